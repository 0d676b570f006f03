/** A visitor of a gateway in another process, who shops. */
import { ProcessVisitor } from "../cli/visitor.ts";

export interface ShopAnswer {
  readonly status: number;
  readonly words: { readonly status: string; readonly reason?: string; readonly [field: string]: unknown };
}

export class ProcessShopper extends ProcessVisitor {
  /** One call to the shop, such as `POST holds`. */
  async shop(what: string, json?: unknown, headers: Record<string, string> = {}): Promise<ShopAnswer> {
    const [method, path] = what.split(" ") as [string, string];
    const hasBody = json !== undefined;
    const { status, text } = await this.ask(`/.fairgate/main/shop/${path}`, {
      method,
      headers: { ...(hasBody && { "content-type": "application/json" }), ...headers },
      ...(hasBody && { body: JSON.stringify(json) }),
    });
    return { status, words: JSON.parse(text) };
  }

  /** Buys this much; true when it was sold. */
  async buy(product: string, count = 1): Promise<boolean> {
    const held = await this.shop("POST holds", { product, count });
    if (held.status !== 201) return false;
    await this.shop("POST finish");
    return (await this.shop("POST pay")).status === 200;
  }
}
