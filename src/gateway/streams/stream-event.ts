/** Events of `text/event-stream`, framed once for all who read them, and the way to one reader. */

const BACKLOG_BYTES_MAX = 64 * 1_024;
const ENCODER = new TextEncoder();

/** An event's bytes, ready for either way of sending them. */
export interface StreamEvent {
  readonly plain: Uint8Array;
  /** As one chunk of a chunked body (RFC 9112, section 7.1). */
  readonly chunk: Uint8Array;
}

/** The way to one reader, whose head has been sent. */
export interface StreamSink {
  /** Bytes that its reader has yet to take. */
  backlog(): number;
  write(event: StreamEvent): void;
  end(): void;
  destroy(): void;
}

export function eventOf(text: string): StreamEvent {
  const plain = ENCODER.encode(text);
  const size = ENCODER.encode(`${plain.length.toString(16)}\r\n`);
  const chunk = new Uint8Array(size.length + plain.length + 2);
  chunk.set(size);
  chunk.set(plain, size.length);
  chunk.set([0x0d, 0x0a], size.length + plain.length);
  return { plain, chunk };
}

/** Sends an event; or gives up a reader who does not keep up. `bytesMax`: how far they may be behind. */
export function writeEvent(sink: StreamSink, event: StreamEvent, bytesMax = BACKLOG_BYTES_MAX): void {
  if (sink.backlog() > bytesMax) sink.destroy();
  else sink.write(event);
}
