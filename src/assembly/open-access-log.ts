/**
 * Opens the access log of one process: format and destination. A reload may change both. Buffered lines are written when
 * the log is closed, and when the process exits.
 */
import type { AccessLogSettings } from "../config/schema.ts";
import type { World } from "../core/world.ts";
import { AccessLog } from "../gateway/access-log/access-log.ts";
import { type Finished, formatOf } from "../gateway/access-log/line.ts";
import { LineWriter } from "../gateway/access-log/line-writer.ts";
import type { Trust } from "../gateway/proxy/trust.ts";
import { destinationOf } from "./access-outputs.ts";

export interface OpenAccessLog {
  readonly log: AccessLog;
  /** Opens what these settings name. Rejects, changing nothing, when it cannot be opened. */
  prepare(settings: AccessLogSettings | null): Promise<PreparedAccessLog>;
  /** Reopens the file by its name. */
  reopen(): void;
  close(): Promise<void>;
}

/** A log that is open and not yet in use. */
export interface PreparedAccessLog {
  /** Takes over from the current log, which writes its lines and closes. */
  use(): void;
  discard(): Promise<void>;
}

/** The writers of this process that may still have lines. */
const writers = new Set<LineWriter<Finished>>();

function writeAllNow(): void {
  for (const writer of writers) writer.writeNow();
}

/** Opens the log; `trust` is called with the first request. Rejects if the file cannot be opened. */
export async function openAccessLog(
  settings: AccessLogSettings | null,
  { world, trust }: { world: World; trust: () => Trust },
): Promise<OpenAccessLog> {
  const log = new AccessLog(world.clock, trust);
  let current: LineWriter<Finished> | null = null;
  /** Earlier writers that are still closing. */
  const ending = new Set<Promise<void>>();
  const turnTo = (next: LineWriter<Finished> | null): void => {
    if (current) {
      const ended = end(current).then(() => void ending.delete(ended));
      ending.add(ended);
    }
    current = next;
  };
  const prepare = async (next: AccessLogSettings | null): Promise<PreparedAccessLog> => {
    const writer = next && (await begin(next, world));
    return {
      use: () => {
        turnTo(writer);
        log.sink = writer;
      },
      discard: async () => {
        if (writer) await end(writer);
      },
    };
  };
  (await prepare(settings)).use();
  return {
    log,
    prepare,
    reopen: () => current?.reopen(),
    close: async () => {
      log.sink = null;
      turnTo(null);
      await Promise.all(ending);
    },
  };
}

async function begin({ to, format }: AccessLogSettings, world: World): Promise<LineWriter<Finished>> {
  const options = { destination: destinationOf(to), writeLine: formatOf(format), world };
  const writer = await LineWriter.open(options);
  if (writers.size === 0) process.on("exit", writeAllNow);
  writers.add(writer);
  return writer;
}

async function end(writer: LineWriter<Finished>): Promise<void> {
  await writer.close();
  writers.delete(writer);
  if (writers.size === 0) process.off("exit", writeAllNow);
}
