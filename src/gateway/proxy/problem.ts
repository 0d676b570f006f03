/**
 * What a visitor is told when the origin cannot be asked or does not answer: a short page, or JSON for whoever asks
 * for that, with the id under which the log says more. This is the plain version; a gateway may hand in another.
 */
import { STATUS_CODES } from "node:http";

/**
 * What went wrong. `originAway`: no address takes a connection, or it hung up, or all are busy. `originSlow`: it took too
 * long. `tooLarge`, `tooSlow`, `badRequest`: the request itself.
 */
export type ProblemKind = "originAway" | "originSlow" | "tooLarge" | "tooSlow" | "badRequest";

export interface Problem {
  readonly status: number;
  readonly id: string;
  readonly kind: ProblemKind;
}

export interface RenderedProblem {
  /** Flat list, the Content-Type among them. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/** Makes the page for a problem, in the form and language the request asks for. */
export type RenderProblem = (
  request: { readonly headers: Readonly<Record<string, string | string[] | undefined>> },
  problem: Problem,
) => RenderedProblem;

const PLAIN_HEADERS = ["Cache-Control", "no-store", "X-Content-Type-Options", "nosniff"];

const SENTENCES: Record<ProblemKind, string> = {
  originAway: "The site cannot be reached at the moment. Please try again in a minute.",
  originSlow: "The site took too long to answer. Please try again in a minute.",
  tooLarge: "What you sent is larger than this site accepts.",
  tooSlow: "What you sent arrived too slowly. Please try again.",
  badRequest: "The request could not be understood.",
};

/** A short page in English, or JSON when that is what the request accepts. */
export const renderPlainProblem: RenderProblem = (request, problem) => {
  if (wantsJson(request.headers.accept)) {
    const { status, id, kind } = problem;
    return {
      headers: ["Content-Type", "application/json", ...PLAIN_HEADERS],
      body: Buffer.from(JSON.stringify({ error: kind, status, id })),
    };
  }
  return {
    headers: ["Content-Type", "text/html; charset=utf-8", ...PLAIN_HEADERS],
    body: Buffer.from(page(problem)),
  };
};

function wantsJson(accept: string | string[] | undefined): boolean {
  const text = String(accept ?? "");
  return /\bapplication\/(?:[\w.-]+\+)?json\b/i.test(text) && !/\btext\/html\b/i.test(text);
}

function page({ status, id, kind }: Problem): string {
  const title = `${status} ${STATUS_CODES[status] ?? ""}`.trim();
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><h1>${title}</h1><p>${SENTENCES[kind]}</p><p>Id: <code>${escapeHtml(id)}</code></p></html>
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
