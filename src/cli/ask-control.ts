/**
 * Asks the control address of a running Fairgate, for commands that are about one. Where it is and which token it wants
 * comes from where `run` has it: flags, the settings file, the environment. Nothing else of the settings is looked at, so
 * that a command works on a machine that lacks the secret.
 */
import { existsSync } from "node:fs";
import { request } from "undici";
import { explain } from "../config/explain.ts";
import { formatListen, parseListen } from "../config/kinds.ts";
import { safeText } from "../config/problem.ts";
import { TOKEN_VARIABLE } from "../config/secrets.ts";
import { DEFAULT_FILE, readSettings } from "./read-settings.ts";

const ANSWER_MAX_MS = 10_000;
const ANSWER_BYTES_MAX = 16 * 1_048_576;
const SHOWN_CHARACTERS_MAX = 200;
const DEFAULT_PORT = 8_081;
const EVERY_ADDRESS = new Set(["", "0.0.0.0", "::"]);

export interface ControlFlags {
  readonly config?: string;
  /** Where the running process listens for operators. */
  readonly control?: string;
}

/** Why a command could not be done, in words for people. */
export class NotDone extends Error {
  readonly exitCode: 1 | 2;

  constructor(words: string, exitCode: 1 | 2) {
    super(words);
    this.exitCode = exitCode;
  }
}

export interface ControlCall {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: object;
}

export interface ControlPlace {
  /** `127.0.0.1:8081` */
  readonly at: string;
  readonly token: string;
}

/** Where to ask. Throws `NotDone` when that, or the token, is nowhere. */
export function findControl(
  flags: ControlFlags,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): ControlPlace {
  const settings = flags.config !== undefined || existsSync(DEFAULT_FILE) ? controlIn(flags.config) : null;
  const token = environment[TOKEN_VARIABLE]?.trim() || settings?.token;
  if (!token) {
    const hint = `\`export ${TOKEN_VARIABLE}=…\`, the same that the running Fairgate was started with`;
    throw new NotDone(`There is no token for the control address: ${hint}.`, 2);
  }
  if (flags.control === undefined) return { at: settings?.at ?? `127.0.0.1:${DEFAULT_PORT}`, token };
  const listen = parseListen(flags.control);
  if (!listen || listen.port === 0) {
    const written = safeText(flags.control, SHOWN_CHARACTERS_MAX);
    throw new NotDone(`--control is "${written}"; it should be an address such as 127.0.0.1:8081.`, 2);
  }
  return { at: reachable(listen), token };
}

function controlIn(config: string | undefined): { at: string; token: string | null } {
  const result = readSettings({ ...(config !== undefined && { config }), isDemo: true });
  if (!result.ok) throw new NotDone(explain(result.problems), 2);
  const { listen, token } = result.settings.control;
  return { at: reachable(listen), token };
}

function reachable({ host, port }: { host: string; port: number }): string {
  return formatListen({ host: EVERY_ADDRESS.has(host) ? "127.0.0.1" : host, port });
}

/** The answer's body. Throws `NotDone` for every other end. */
export async function askControl(
  { at, token }: ControlPlace,
  { method, path, body }: ControlCall,
): Promise<unknown> {
  const answer = await reach(at, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body && { "content-type": "application/json" }),
    },
    ...(body && { body: JSON.stringify(body) }),
    path,
  });
  const value = parse(answer.text);
  if (answer.ok && value !== undefined) return value;
  if (answer.status === 401)
    throw new NotDone(`${at} wants another token than the one in ${TOKEN_VARIABLE}.`, 1);
  const message = (value as { error?: { message?: unknown } } | undefined)?.error?.message;
  const said = typeof message === "string" ? safeText(message, SHOWN_CHARACTERS_MAX) : null;
  throw new NotDone(said ?? `What answers at ${at} is no control address of Fairgate (${answer.status}).`, 1);
}

async function reach(
  at: string,
  { path, ...options }: Omit<ControlCall, "body"> & { headers: Record<string, string>; body?: string },
): Promise<{ ok: boolean; status: number; text: string }> {
  try {
    // Not by fetch, which refuses a number of ports that a browser should not ask.
    const signal = AbortSignal.timeout(ANSWER_MAX_MS);
    const { statusCode, body } = await request(`http://${at}${path}`, { ...options, signal });
    return { ok: statusCode >= 200 && statusCode < 300, status: statusCode, text: await textOf(body) };
  } catch (cause) {
    throw new NotDone(`${whyNot(at, cause)} Say where with --control.`, 1);
  }
}

/** What is longer than any answer of ours is nobody's. */
async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body) {
    length += piece.length;
    if (length > ANSWER_BYTES_MAX) return "";
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

function whyNot(at: string, cause: unknown): string {
  if ((cause as Error).name === "TimeoutError") return `${at} did not answer in time.`;
  const { code } = cause as NodeJS.ErrnoException;
  if (code === "ECONNREFUSED") return `Nobody listens at ${at}: Fairgate is not running, or elsewhere.`;
  return `${at} cannot be reached (${code ?? (cause as Error).message}).`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
