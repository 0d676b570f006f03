/**
 * A picture that is drawn over itself on the terminal's other screen: without cursor and without wrapping, so that nothing of an
 * earlier picture stays. What was on the terminal before is there again once it is closed, or the process ends.
 */
const ENTER = "\x1b[?1049h\x1b[?25l\x1b[?7l";
const LEAVE = "\x1b[?7h\x1b[?25h\x1b[?1049l";

/** The part of a terminal that a picture needs. */
export type Window = Pick<NodeJS.WriteStream, "columns" | "rows" | "write" | "on">;

export class OtherScreen {
  readonly #out: Window;
  #isOpen = false;

  constructor(out: Window) {
    this.#out = out;
    process.on("exit", () => this.close());
  }

  get columns(): number {
    return this.#out.columns ?? 80;
  }

  get rows(): number {
    return this.#out.rows ?? 24;
  }

  /** Calls `redraw` whenever the window gets another size. */
  onResize(redraw: () => void): void {
    this.#out.on("resize", redraw);
  }

  /** Draws lines that fit, the first at the top. */
  draw(lines: readonly string[]): void {
    const start = this.#isOpen ? "" : ENTER;
    this.#isOpen = true;
    const shown = lines.slice(0, this.rows).map((line) => `${line}\x1b[K`);
    this.#out.write(`${start}\x1b[H${shown.join("\r\n")}\x1b[J`);
  }

  close(): void {
    if (this.#isOpen) this.#out.write(LEAVE);
    this.#isOpen = false;
  }
}
