/**
 * A request whose headers become an object only on demand. Node's server reads the object for every request, to learn three
 * things: whether there is a Host, whether a body follows, and whether the client waits for 100 Continue. Here these are read
 * from the raw list. The object, a twentieth of the cost of a request, is made after `handOver`, for code that needs more than
 * `rawHeader`.
 *
 * A body of length 0 counts as none, which spares Node a stream: every check-in is such a request.
 */
import { IncomingMessage } from "node:http";
import { isNamed } from "../proxy/raw-header.ts";

type Headers = IncomingMessage["headers"];

/** The headers that Node reads before it hands a request over. */
const NO_BODY: Headers = Object.freeze({ host: "" });
const WITH_BODY: Headers = Object.freeze({ host: "", "content-length": "" });

/** Node's own way to make the object; its types call it a field, so it cannot be reached by `super`. */
const { get: make, set: replace } = Object.getOwnPropertyDescriptor(IncomingMessage.prototype, "headers")!;

export class LeanRequest extends IncomingMessage {
  // Not `#private`: with the old-style constructor above, such fields would cost more than this class saves.
  protected isHandedOver = false;
  protected forNode: Headers | null = null;

  static {
    Object.defineProperty(LeanRequest.prototype, "headers", {
      get(this: LeanRequest): Headers {
        if (this.isHandedOver) return make!.call(this);
        this.forNode ??= forNode(this.rawHeaders) ?? make!.call(this);
        return this.forNode!;
      },
      set(this: LeanRequest, headers: Headers): void {
        replace!.call(this, headers);
      },
    });
  }

  /** From here on `headers` is the whole object. */
  handOver(): void {
    this.isHandedOver = true;
  }
}

/** What Node needs to know; null when it should look for itself. */
function forNode(raw: readonly string[]): Headers | null {
  let hasHost = false;
  let hasBody = false;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!;
    switch (name.length) {
      case 4:
        hasHost ||= isNamed(name, "Host", "host");
        break;
      case 6:
        if (isNamed(name, "Expect", "expect")) return null;
        break;
      case 14:
        hasBody ||= raw[i + 1] !== "0" && isNamed(name, "Content-Length", "content-length");
        break;
      case 17:
        hasBody ||= isNamed(name, "Transfer-Encoding", "transfer-encoding");
    }
  }
  if (!hasHost) return null;
  return hasBody ? WITH_BODY : NO_BODY;
}
