/** A line of the access log as text, for tests that read it. */
import { type Finished, type Format, formatOf } from "../gateway/access-log/line.ts";
import { LINE_BYTES_MAX, LineBuffer } from "../gateway/access-log/line-buffer.ts";

export function accessLines(name: "combined" | "json"): (finished: Finished) => string {
  const format: Format = formatOf(name);
  return (finished) => {
    const line = new LineBuffer(LINE_BYTES_MAX);
    format(finished, line);
    return line.written.toString("latin1");
  };
}
