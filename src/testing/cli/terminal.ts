/**
 * What a terminal shows after the bytes that a program wrote to it: as much of an xterm as Fairgate's own screens need, and an
 * error for what it does not know, so that nothing passes by being misread. Lines longer than the screen go on in the next one
 * unless wrapping is off; what scrolls away at the top is gone.
 */
import { StringDecoder } from "node:string_decoder";
import { columnsOf } from "../../cli/operate/columns.ts";

interface Grid {
  cells: string[][];
  row: number;
  column: number;
}

export class Terminal {
  #columns: number;
  #rows: number;
  #main: Grid;
  #other: Grid | null = null;
  #wraps = true;
  #rest = "";
  readonly #decoder = new StringDecoder("utf8");

  constructor(columns: number, rows: number) {
    this.#columns = columns;
    this.#rows = rows;
    this.#main = newGrid(rows);
  }

  /** True while the other screen is shown. */
  get isOther(): boolean {
    return this.#other !== null;
  }

  write(bytes: Uint8Array): void {
    let text = this.#rest + this.#decoder.write(Buffer.from(bytes));
    this.#rest = "";
    while (text !== "") {
      const sequence = /^\x1b(?:\[([?\d;]*)([@-~])|\][^\x07\x1b]*\x07|[^[\]])/.exec(text);
      if (sequence) {
        if (sequence[2] !== undefined) this.#control(sequence[1]!, sequence[2]);
        else throw new Error(`a sequence that no screen of ours has: ${JSON.stringify(sequence[0])}`);
        text = text.slice(sequence[0].length);
      } else if (text.startsWith("\x1b")) {
        this.#rest = text;
        return;
      } else {
        const character = String.fromCodePoint(text.codePointAt(0)!);
        this.#put(character);
        text = text.slice(character.length);
      }
    }
  }

  resize(columns: number, rows: number): void {
    this.#columns = columns;
    this.#rows = rows;
    for (const grid of [this.#main, ...(this.#other ? [this.#other] : [])]) {
      while (grid.cells.length > rows) grid.cells.pop();
      while (grid.cells.length < rows) grid.cells.push([]);
      for (const line of grid.cells) line.length = Math.min(line.length, columns);
      grid.row = Math.min(grid.row, rows - 1);
      grid.column = Math.min(grid.column, columns - 1);
    }
  }

  /** The lines of the screen, without spaces at their ends. */
  text(): string {
    const lines = this.#grid.cells.map((line) =>
      Array.from(line, (cell) => cell ?? " ")
        .join("")
        .trimEnd(),
    );
    return lines.join("\n").trimEnd();
  }

  get #grid(): Grid {
    return this.#other ?? this.#main;
  }

  #put(character: string): void {
    const grid = this.#grid;
    if (character === "\r") grid.column = 0;
    else if (character === "\n") this.#down();
    else if (character === "\b") grid.column = Math.max(0, grid.column - 1);
    else if (character === "\x07") return;
    else if (character < " ")
      throw new Error(`a character that no screen of ours has: ${JSON.stringify(character)}`);
    else this.#print(character, grid);
  }

  #print(character: string, grid: Grid): void {
    const width = columnsOf(character);
    if (width === 0) return;
    if (grid.column + width > this.#columns) {
      if (this.#wraps) {
        grid.column = 0;
        this.#down();
      } else grid.column = this.#columns - width;
    }
    const line = grid.cells[grid.row]!;
    line[grid.column] = character;
    if (width === 2) line[grid.column + 1] = "";
    grid.column += width;
  }

  #down(): void {
    const grid = this.#grid;
    if (grid.row < this.#rows - 1) grid.row++;
    else {
      grid.cells.shift();
      grid.cells.push([]);
    }
  }

  #control(parameters: string, final: string): void {
    const grid = this.#grid;
    const [first = 0, second = 0] = parameters.replace("?", "").split(";").map(Number);
    const line = grid.cells[grid.row]!;
    if (final === "m") return;
    if (parameters.startsWith("?")) this.#mode(first, final === "h");
    else if (final === "H") {
      grid.row = Math.min(this.#rows, Math.max(1, first)) - 1;
      grid.column = Math.min(this.#columns, Math.max(1, second)) - 1;
    } else if (final === "A") grid.row = Math.max(0, grid.row - Math.max(1, first));
    else if (final === "K") {
      if (first === 2) grid.cells[grid.row] = [];
      else line.length = Math.min(line.length, grid.column);
    } else if (final === "J") {
      if (first === 2) grid.cells = newGrid(this.#rows).cells;
      else {
        line.length = Math.min(line.length, grid.column);
        for (let row = grid.row + 1; row < this.#rows; row++) grid.cells[row] = [];
      }
    } else throw new Error(`a sequence that no screen of ours has: CSI ${parameters}${final}`);
  }

  #mode(mode: number, isOn: boolean): void {
    if (mode === 7) this.#wraps = isOn;
    else if (mode === 1049) this.#other = isOn ? newGrid(this.#rows) : null;
    else if (mode !== 25) throw new Error(`a mode that no screen of ours has: ${mode}`);
  }
}

function newGrid(rows: number): Grid {
  return { cells: Array.from({ length: rows }, () => []), row: 0, column: 0 };
}
