/**
 * The files that settings name: can they be read, and are they what they should be? A certificate and its key are
 * checked to belong together before anything listens. Reading is handed in, so that this runs the same in a test.
 */
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { dirname, resolve } from "node:path";
import { PAGE_CHARACTERS_MAX } from "./kinds.ts";
import { type Finding, formatPath, type Path } from "./problem.ts";
import type { Known } from "./salvage.ts";

/** Reads a file as text; throws as `readFileSync` does. */
export type ReadFile = (fileName: string) => string;
export type FileAnswer = { readonly text: string } | { readonly wrong: string };

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EACCES: "there is no permission to read it",
  EPERM: "there is no permission to read it",
  EISDIR: "it is a folder",
};

/** Where a file named in the settings is: names start from the settings file's folder. */
export function locateFile(fileName: string, settingsFile: string | null): string {
  return settingsFile === null ? resolve(fileName) : resolve(dirname(settingsFile), fileName);
}

/** The file's text, or why there is none. */
export function tryRead(readFile: ReadFile, fileName: string): FileAnswer {
  try {
    return { text: readFile(fileName) };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    return { wrong: WORDS[code] ?? (code || "reading failed") };
  }
}

/** Problems with the certificate and its key, which the settings at `path` name. */
export function checkTls(
  tls: Known<{ certificateFile: string; keyFile: string }>,
  read: (fileName: string) => FileAnswer,
  path: Path = ["tls"],
): Finding[] {
  const certificate = parsed([...path, "certificateFile"], tls.certificateFile, read, CERTIFICATE);
  const key = parsed([...path, "keyFile"], tls.keyFile, read, {
    what: "a private key in PEM form, without a passphrase",
    parse: (pem) => createPrivateKey(pem),
  });
  if (!certificate.value || !key.value) return [...certificate.findings, ...key.findings];
  return checkPair(certificate.value, key.value, path);
}

/** Problems with a file of certificates that others' are signed by. */
export function checkAuthority(
  path: Path,
  fileName: string | undefined,
  read: (fileName: string) => FileAnswer,
): readonly Finding[] {
  return parsed(path, fileName, read, CERTIFICATE).findings;
}

const CERTIFICATE = {
  what: "a certificate in PEM form",
  parse: (pem: string) => new X509Certificate(pem),
};

function checkPair(certificate: X509Certificate, key: KeyObject, path: Path): Finding[] {
  if (certificate.checkPrivateKey(key)) return [];
  const [keyFile, certificateFile] = ["keyFile", "certificateFile"].map((name) =>
    formatPath([...path, name]),
  );
  const message = `${keyFile} is not the key of the certificate in ${certificateFile}`;
  const hint =
    "They should be a pair. The first certificate in the file should be the site's own, not its issuer's.";
  return [{ code: "conflict", path: [...path, "keyFile"], at: "value", message, hint }];
}

interface Parsed<T> {
  readonly value: T | null;
  readonly findings: readonly Finding[];
}

function parsed<T>(
  path: Path,
  fileName: string | undefined,
  read: (fileName: string) => FileAnswer,
  kind: { what: string; parse: (text: string) => T },
): Parsed<T> {
  if (fileName === undefined) return { value: null, findings: [] };
  const answer = read(fileName);
  if ("wrong" in answer) return { value: null, findings: [unreadable(path, fileName, answer.wrong)] };
  try {
    return { value: kind.parse(answer.text), findings: [] };
  } catch {
    const message = `${path.join(".")}: ${fileName} does not hold ${kind.what}`;
    return {
      value: null,
      findings: [{ code: "invalid", path, at: "value", message, hint: `It should be ${kind.what}.` }],
    };
  }
}

export interface PageAnswer {
  readonly html: string | null;
  readonly findings: readonly Finding[];
}

/** A custom waiting page's text. */
export function readPage(path: Path, fileName: string, read: (fileName: string) => FileAnswer): PageAnswer {
  const answer = read(fileName);
  if ("wrong" in answer) return { html: null, findings: [unreadable(path, fileName, answer.wrong)] };
  const { length } = answer.text;
  if (length > 0 && length <= PAGE_CHARACTERS_MAX) return { html: answer.text, findings: [] };
  const message = `${formatPath(path)}: ${fileName} has ${length} characters`;
  const hint = `A page should have 1 to ${PAGE_CHARACTERS_MAX}.`;
  return { html: null, findings: [{ code: "invalid", path, at: "value", message, hint }] };
}

function unreadable(path: Path, fileName: string, wrong: string): Finding {
  const message = `${formatPath(path)}: ${fileName} cannot be read: ${wrong}`;
  return {
    code: "unreadable",
    path,
    at: "value",
    message,
    hint: "Names start from the settings file's folder.",
  };
}
