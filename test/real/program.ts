/** A visitor without a browser who is on the site and stays there. */
import { ask } from "../../src/visitor/ask.ts";
import { PAGE } from "../../src/visitor/http-visitor.ts";

/** Enters the site as a browser would, with a page and then another; returns the cookie with the pass. */
export async function enter(address: string): Promise<string> {
  const first = await ask(address, { headers: PAGE });
  const cookies = first.headers["set-cookie"] ?? [];
  const cookie = cookies.find((text) => text.startsWith("fairgate_"))?.split(";", 1)[0];
  if (cookie === undefined) throw new Error(`no pass was given: status ${first.status}\n${first.text}`);
  const again = await ask(address, { headers: { ...PAGE, cookie } });
  if (again.text.includes("fairgate-data")) throw new Error("there is a line, and nobody entered");
  return cookie;
}
