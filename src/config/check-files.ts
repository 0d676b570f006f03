/**
 * Checks of the files that settings name: that they can be read and contain what they should. A certificate and its key
 * must match before anything listens. The function that reads files is passed in.
 */
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { dirname, resolve } from "node:path";
import { PAGE_CHARACTERS_MAX } from "./kinds.ts";
import { type Finding, formatPath, type Path, unreadable } from "./problem.ts";
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

/** The absolute name of a file named in the settings: relative names start from the settings file's folder. */
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
): readonly Finding[] {
  const certificate = readPem([...path, "certificateFile"], tls.certificateFile, read, CERTIFICATE);
  const key = readPem([...path, "keyFile"], tls.keyFile, read, PRIVATE_KEY);
  if (!certificate.value || !key.value) return [...certificate.findings, ...key.findings];
  if (certificate.value.checkPrivateKey(key.value)) return [];
  const keyPath = [...path, "keyFile"];
  const message = `${formatPath(keyPath)} is not the key of the certificate in ${formatPath([...path, "certificateFile"])}`;
  const hint =
    "They should be a pair. The first certificate in the file should be the site's own, not its issuer's.";
  return [{ code: "conflict", path: keyPath, at: "value", message, hint }];
}

interface Pem<T> {
  readonly value: T | null;
  readonly findings: readonly Finding[];
}

interface PemKind<T> {
  readonly what: string;
  readonly parse: (text: string) => T;
}

export const CERTIFICATE: PemKind<X509Certificate> = {
  what: "a certificate in PEM form",
  parse: (pem) => new X509Certificate(pem),
};

const PRIVATE_KEY: PemKind<KeyObject> = {
  what: "a private key in PEM form, without a passphrase",
  parse: (pem) => createPrivateKey(pem),
};

/** A PEM file, parsed, or what is wrong with it. */
export function readPem<T>(
  path: Path,
  fileName: string | null | undefined,
  read: (fileName: string) => FileAnswer,
  { what, parse }: PemKind<T>,
): Pem<T> {
  if (fileName == null) return { value: null, findings: [] };
  const answer = read(fileName);
  if ("wrong" in answer) return { value: null, findings: [unreadable(path, fileName, answer.wrong)] };
  try {
    return { value: parse(answer.text), findings: [] };
  } catch {
    const message = `${path.join(".")}: ${fileName} does not hold ${what}`;
    const hint = `It should be ${what}.`;
    return { value: null, findings: [{ code: "invalid", path, at: "value", message, hint }] };
  }
}

/** The text of a file that was checked before. */
export function fileText(fileName: string, read: (fileName: string) => FileAnswer): string {
  const answer = read(fileName);
  return "text" in answer ? answer.text : "";
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
