/**
 * Where secrets come from: the environment, a file of their own, or the settings file, in that order. And whether they
 * are good enough. Words about a secret never hold the secret.
 */
import type { FileAnswer } from "./check-files.ts";
import { SECRET_CHARACTERS_MAX, SECRET_CHARACTERS_MIN } from "./kinds.ts";
import type { Finding, Path, Source } from "./problem.ts";

export const SECRET_VARIABLE = "FAIRGATE_SECRET";
export const TOKEN_VARIABLE = "FAIRGATE_CONTROL_TOKEN";

/** A random secret uses many more; one repeated character or a short pattern does not. */
const DIFFERENT_CHARACTERS_MIN = 8;

export interface SecretPlaces {
  /** What to call it: "secret", "token" or "password". */
  readonly what: string;
  readonly variable: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly path: Path;
  readonly value: string | null | undefined;
  readonly filePath: Path;
  readonly fileName: string | null | undefined;
  readonly read: (fileName: string) => FileAnswer;
  /** Lines a file may have: the secret and, where there can be any, older ones. */
  readonly linesMax: number;
  /** What makes it good; when left out, what makes a good secret to sign with. */
  readonly check?: (secret: string, name: SecretName) => Finding[];
}

export interface SecretAnswer {
  /** The secret, then older ones; empty when none is set or none is good. */
  readonly secrets: readonly string[];
  readonly problems: readonly Finding[];
  readonly cautions: readonly Finding[];
}

/** Takes the secret from the first place that has one. */
export function chooseSecret(places: SecretPlaces): SecretAnswer {
  const { what, path, value, filePath, fileName, check } = places;
  const inEnvironment = places.environment[places.variable]?.trim();
  if (inEnvironment) return fromEnvironment(places, inEnvironment);
  if (value && fileName) {
    const message = `${path.join(".")} and ${filePath.join(".")} are both set`;
    return problem({ code: "conflict", path: filePath, at: "key", message, hint: "Keep one of them." });
  }
  if (value) return checked([value], { what, name: path.join("."), path }, check);
  if (fileName) return fromFile(places, fileName);
  return { secrets: [], problems: [], cautions: [] };
}

function fromEnvironment(
  { what, variable, path, value, filePath, fileName, check }: SecretPlaces,
  secret: string,
): SecretAnswer {
  const source: Source = { kind: "env", name: variable, spot: null };
  const answer = checked([secret], { what, name: variable, path, source }, check);
  if (!value && !fileName) return answer;
  const message = `${variable} is set, so the ${what} in the settings is not used`;
  const at = { path: value ? path : filePath, at: "key" } as const;
  return { ...answer, cautions: [{ code: "caution", ...at, message, hint: "Keep one of them." }] };
}

function fromFile({ what, filePath, read, linesMax, check }: SecretPlaces, fileName: string): SecretAnswer {
  const answer = read(fileName);
  const name = filePath.join(".");
  if ("wrong" in answer) {
    const message = `${name}: ${fileName} cannot be read: ${answer.wrong}`;
    const hint = "Names start from the settings file's folder.";
    return problem({ code: "unreadable", path: filePath, at: "value", message, hint });
  }
  const lines = answer.text.split("\n").map((line) => line.trim());
  const secrets = lines.filter((line) => line !== "");
  if (secrets.length > linesMax) {
    const message = `${name}: ${fileName} has ${secrets.length} lines`;
    return problem({
      code: "invalid",
      path: filePath,
      at: "value",
      message,
      hint: `It can have ${linesMax}.`,
    });
  }
  return checked(secrets.length > 0 ? secrets : [""], { what, name, path: filePath }, check);
}

function problem(finding: Finding): SecretAnswer {
  return { secrets: [], problems: [finding], cautions: [] };
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

/** The finding for a secret that is nowhere. Gateways that share a line read each other's tickets. */
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
