/**
 * Where secrets come from, in this order: the environment, a file of their own, the settings file; and whether they are
 * strong enough. No message about a secret contains it.
 */
import type { FileAnswer } from "./check-files.ts";
import { SECRET_CHARACTERS_MAX, SECRET_CHARACTERS_MIN } from "./kinds.ts";
import { type Finding, type Path, type Source, unreadable } from "./problem.ts";

export const SECRET_VARIABLE = "FAIRGATE_SECRET";
export const TOKEN_VARIABLE = "FAIRGATE_CONTROL_TOKEN";

/** Different characters in a secret. A random one has many more; one repeated character or a short pattern does not. */
const DIFFERENT_CHARACTERS_MIN = 8;

/** Where secrets outside the settings can be. */
export interface SecretSources {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Reads a file that the settings name. */
  readonly read: (fileName: string) => FileAnswer;
}

export interface SecretSetting {
  /** What to call it: "secret", "token" or "password". */
  readonly what: string;
  readonly variable: string;
  readonly path: Path;
  readonly value: string | null | undefined;
  /** When left out, the same path with `File` at its end. */
  readonly filePath?: Path;
  readonly fileName: string | null | undefined;
  /** The most lines of the file: the secret and earlier ones. When left out, 1. */
  readonly linesMax?: number;
  /** What makes it good; when left out, what makes a good secret to sign with. */
  readonly check?: (secret: string, name: SecretName) => Finding[];
}

export interface SecretAnswer {
  /** The secret, then earlier ones; empty when none is set or none is good. */
  readonly secrets: readonly string[];
  readonly problems: readonly Finding[];
  readonly cautions: readonly Finding[];
}

export const NO_SECRET: SecretAnswer = { secrets: [], problems: [], cautions: [] };

/** The secret from the first place that has one. */
export function chooseSecret(setting: SecretSetting, { environment, read }: SecretSources): SecretAnswer {
  const { what, variable, path, value, fileName, check } = setting;
  const filePath = setting.filePath ?? [...path.slice(0, -1), `${path.at(-1)}File`];
  const inEnvironment = environment[variable]?.trim();
  if (inEnvironment) {
    const source: Source = { kind: "env", name: variable, spot: null };
    const answer = checked([inEnvironment], { what, name: variable, path, source }, check);
    if (!value && !fileName) return answer;
    const message = `${variable} is set, so the ${what} in the settings is not used`;
    const at = { path: value ? path : filePath, at: "key" } as const;
    return { ...answer, cautions: [{ code: "caution", ...at, message, hint: "Keep one of them." }] };
  }
  if (value && fileName) {
    const message = `${path.join(".")} and ${filePath.join(".")} are both set`;
    return problem({ code: "conflict", path: filePath, at: "key", message, hint: "Keep one of them." });
  }
  if (value) return checked([value], { what, name: path.join("."), path }, check);
  return fileName ? fromFile({ ...setting, filePath }, fileName, read(fileName)) : NO_SECRET;
}

function fromFile(
  { what, filePath, linesMax = 1, check }: SecretSetting & { filePath: Path },
  fileName: string,
  answer: FileAnswer,
): SecretAnswer {
  if ("wrong" in answer) return problem(unreadable(filePath, fileName, answer.wrong));
  const name = filePath.join(".");
  const lines = answer.text.split("\n").map((line) => line.trim());
  const secrets = lines.filter((line) => line !== "");
  if (secrets.length <= linesMax)
    return checked(secrets.length > 0 ? secrets : [""], { what, name, path: filePath }, check);
  const message = `${name}: ${fileName} has ${secrets.length} lines`;
  const hint = `It can have ${linesMax}.`;
  return problem({ code: "invalid", path: filePath, at: "value", message, hint });
}

function problem(finding: Finding): SecretAnswer {
  return { ...NO_SECRET, problems: [finding] };
}

export interface SecretName {
  readonly what: string;
  readonly name: string;
  readonly path: Path;
  readonly source?: Source;
}

function checked(secrets: readonly string[], name: SecretName, check = checkSecret): SecretAnswer {
  const problems = secrets.flatMap((secret) => check(secret, name));
  return { secrets: problems.length > 0 ? [] : secrets, problems, cautions: [] };
}

/** A finding when the secret is too short, too long or easy to guess. */
export function checkSecret(secret: string, { what, name, path, source }: SecretName): Finding[] {
  const wrong = weakness(secret);
  if (!wrong) return [];
  const range = `${SECRET_CHARACTERS_MIN} to ${SECRET_CHARACTERS_MAX}`;
  const hint = `A ${what} should be ${range} random characters. \`fairgate keys new\` prints a good one.`;
  const message = `${name} ${wrong}`;
  return [{ code: "weak-secret", path, at: "value", message, hint, ...(source && { source }) }];
}

function weakness(secret: string): string | null {
  if (secret === "") return "is empty";
  if (secret.length < SECRET_CHARACTERS_MIN) return `has only ${secret.length} characters`;
  if (secret.length > SECRET_CHARACTERS_MAX) return `has ${secret.length} characters`;
  if (!/^[\x21-\x7e]+$/.test(secret)) return "has spaces or characters outside ASCII in it";
  return new Set(secret).size < DIFFERENT_CHARACTERS_MIN
    ? "is easy to guess: it repeats a few characters"
    : null;
}

/** The finding for a missing secret. `sharedBy`: who else needs the same one, since gateways read each other's tickets. */
export function missingSecret({ sharedBy }: { sharedBy: string | null }): Finding {
  const hint = `Make one with \`fairgate keys new\`, keep it safe, and \`export ${SECRET_VARIABLE}=…\` before starting`;
  return {
    code: "no-secret",
    path: [],
    at: "key",
    message: "there is no secret to sign tickets and passes with",
    hint: sharedBy === null ? `${hint}.` : `${hint}, the same for every ${sharedBy}.`,
  };
}
