/**
 * A secret that settings name and do not hold: the environment variable or the file it is in. For secrets of which there may be
 * several, such as one for each lane, so that none has a variable of its own. They are returned beside the settings, never inside
 * them.
 */
import { fileName, readable, setting } from "./kinds.ts";
import { type Finding, formatPath, type Path, safeText } from "./problem.ts";
import type { Read } from "./route.ts";
import type { Known } from "./salvage.ts";
import { chooseSecret, type SecretSetting, type SecretSources } from "./secrets.ts";

const NAME_CHARACTERS_MAX = 100;
const VARIABLE_CHARACTERS_SHOWN_MAX = 60;

/** `secretVariable` and `secretFile`. `like`: a variable's name. `purpose`: "the JWTs are signed with (HS256)". */
export function namedSecretSettings({ like, purpose }: { like: string; purpose: string }) {
  return {
    secretVariable: setting(variableName(like), null).describe(
      `Environment variable that holds the secret ${purpose}.`,
    ),
    secretFile: setting(fileName(), null).describe("File that holds the secret instead."),
  };
}

/** The name of an environment variable. */
export function variableName(like: string) {
  return (
    readable(readVariable, {
      kind: "variable",
      max: NAME_CHARACTERS_MAX,
      shape: `the name of an environment variable such as ${like}`,
    })
      // Somebody will put the secret itself here, so a wrong value must not be quoted.
      .meta({ isSecret: true })
  );
}

export interface NamedSecret {
  readonly secretVariable: string | null;
  readonly secretFile: string | null;
}

export interface NamedSecretAnswer {
  readonly secrets: readonly string[];
  readonly problems: readonly Finding[];
}

export interface NamedSecretForm {
  /** The most lines of its file. Default: 1. */
  readonly linesMax?: number;
  /** What makes it good. Default: what makes a good secret to sign with. */
  readonly check?: NonNullable<SecretSetting["check"]>;
  /** What the two settings are called. */
  readonly names?: readonly [variable: string, file: string];
}

/** The secret that the settings at `path` name, and earlier ones after it; none when they name none, or what is wrong with it. */
export function readNamedSecret(
  { secretVariable, secretFile }: Known<NamedSecret>,
  path: Path,
  sources: SecretSources,
  { linesMax = 1, check, names = ["secretVariable", "secretFile"] }: NamedSecretForm = {},
): NamedSecretAnswer {
  const named = secretVariable ?? "";
  // A property every object inherits, such as `constructor`, is no variable.
  const variable = Object.hasOwn(sources.environment, named) ? named : "";
  const fileName = named === "" ? secretFile : null;
  const at = { path: [...path, names[0]], filePath: [...path, names[1]] };
  const wanted = {
    what: "secret",
    variable,
    ...at,
    value: null,
    fileName,
    linesMax,
    ...(check && { check }),
  };
  const answer = chooseSecret(wanted, sources);
  const isUnset = named !== "" && answer.secrets.length === 0 && answer.problems.length === 0;
  return { secrets: answer.secrets, problems: isUnset ? [noVariable(named, at.path)] : answer.problems };
}

function noVariable(variable: string, at: Path): Finding {
  const name = safeText(variable, VARIABLE_CHARACTERS_SHOWN_MAX);
  const message = `${formatPath(at)} names ${name}, which is not in the environment`;
  return { code: "missing", path: at, at: "value", message, hint: `\`export ${name}=…\` before starting.` };
}

function readVariable(written: string): Read<string> {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(written)
    ? { value: written }
    : { wrong: "is not a variable's name" };
}
