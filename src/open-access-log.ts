/**
 * The access log of one process, put together: which lines, in which form, to where. Another file or form takes over at a
 * reload; everything gathered is written when it is closed, and when the process ends in any other way that leaves it
 * the time.
 */
import { destinationOf } from "./access-outputs.ts";
import type { AccessLogSettings } from "./config/schema.ts";
import type { World } from "./core/world.ts";
import { AccessLog } from "./gateway/access-log/access-log.ts";
import { formatOf } from "./gateway/access-log/line.ts";
import { LineWriter } from "./gateway/access-log/line-writer.ts";
import type { Trust } from "./gateway/proxy/trust.ts";

export interface OpenAccessLog {
  readonly log: AccessLog;
  /** Opens what these settings name. Rejects, changing nothing, when it cannot be opened. */
  prepare(settings: AccessLogSettings | null): Promise<PreparedAccessLog>;
  /** Opens the file again by its name. */
  reopen(): void;
  close(): Promise<void>;
}

/** A log that is open and not yet used. */
export interface PreparedAccessLog {
  /** Takes over from the one before, which writes what it has and closes. */
  use(): void;
  discard(): Promise<void>;
}

/** `trust` is asked for with the first request. Rejects when the file cannot be opened. */
export async function openAccessLog(
  settings: AccessLogSettings | null,
  { world, trust }: { world: World; trust: () => Trust },
): Promise<OpenAccessLog> {
  const log = new AccessLog(world.clock, trust);
  let current: LineWriter | null = null;
  /** Those that still have something to write. */
  const writers = new Map<LineWriter, Promise<void> | null>();
  const end = (writer: LineWriter): Promise<void> => {
    const closing = writer.close().then(() => void writers.delete(writer));
    writers.set(writer, closing);
    return closing;
  };
  const prepare = async (next: AccessLogSettings | null): Promise<PreparedAccessLog> => {
    const opened = next && (await LineWriter.open(destinationOf(next.to), world));
    return {
      use: () => {
        if (current) void end(current);
        if (opened) writers.set(opened, null);
        current = opened;
        log.sink = next && opened && { format: formatOf(next.format), add: (line) => opened.add(line) };
      },
      discard: async () => opened?.close(),
    };
  };
  (await prepare(settings)).use();
  const onExit = () => {
    for (const writer of writers.keys()) writer.writeNow();
  };
  process.on("exit", onExit);
  return {
    log,
    prepare,
    reopen: () => current?.reopen(),
    close: async () => {
      log.sink = null;
      await Promise.all([...writers].map(([writer, closing]) => closing ?? end(writer)));
      process.off("exit", onExit);
    },
  };
}
