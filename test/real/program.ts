/**
 * A program that asks over HTTP: it follows nothing, unpacks nothing and keeps nothing. And someone without a browser who is
 * on the site and stays there.
 */
import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";

/** The headers with which a browser loads a page. */
export const PAGE = {
  accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
  "sec-fetch-dest": "document",
  "sec-fetch-mode": "navigate",
  "sec-fetch-site": "none",
};

export interface Asking {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
  /** The address it comes from. */
  readonly from?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export async function ask(url: string, asking: Asking = {}): Promise<Answer> {
  const response = await begin(url, asking);
  return { status: response.statusCode!, headers: response.headers, body: await buffer(response) };
}

/** The same, for those who read the body as it comes. */
export function begin(url: string, { method = "GET", headers = {}, body, from }: Asking = {}) {
  return new Promise<IncomingMessage>((resolve, reject) => {
    const localAddress = from === undefined ? {} : { localAddress: from };
    const asked = request(url, { method, headers, agent: false, ...localAddress });
    asked.on("response", resolve).on("error", reject).end(body);
  });
}

/** Enters the site as a browser would, with a page and then another; gives the cookie that holds the pass. */
export async function enter(address: string): Promise<string> {
  const first = await ask(address, { headers: PAGE });
  const cookies = first.headers["set-cookie"] ?? [];
  const cookie = cookies.find((text) => text.startsWith("fairgate_"))?.split(";", 1)[0];
  if (cookie === undefined) throw new Error(`no pass was given: status ${first.status}\n${first.body}`);
  const again = await ask(address, { headers: { ...PAGE, cookie } });
  if (again.body.includes("fairgate-data")) throw new Error("there is a line, and nobody entered");
  return cookie;
}
