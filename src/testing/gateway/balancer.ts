/**
 * A load balancer that passes on TCP and puts a PROXY header in front: HAProxy and nginx send it as soon as they are
 * connected, AWS's NLB in one packet with the visitor's first bytes.
 */
import net, { type AddressInfo } from "node:net";
import type { TestContext } from "node:test";

export interface BalancerOptions {
  /** The port to forward to. */
  readonly to: number;
  /** The header of the next connection. */
  header(): Buffer;
  /** True: the header waits for the visitor's first bytes. */
  readonly isLazy?: boolean;
}

/** Opens one until the test ends. Returns the port where visitors connect. */
export async function openBalancer(t: TestContext, { to, header, isLazy }: BalancerOptions): Promise<number> {
  const server = net.createServer((visitor) => {
    const gateway = net.connect(to, "127.0.0.1");
    const end = () => {
      visitor.destroy();
      gateway.destroy();
    };
    for (const socket of [visitor, gateway]) socket.on("error", end).on("close", end);
    t.after(end);
    gateway.pipe(visitor);
    if (isLazy) {
      visitor.once("data", (first: Buffer) => {
        gateway.write(Buffer.concat([header(), first]));
        visitor.pipe(gateway);
      });
    } else {
      gateway.write(header());
      visitor.pipe(gateway);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}
