import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { checkTls, type FileAnswer, readPage, tryRead } from "./check-files.ts";
import { PAGE_CHARACTERS_MAX } from "./kinds.ts";

/** A pair made for this test; it guards nothing. */
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBljCCATugAwIBAgIUdA8nuOENaZLeoY4OzLBs9HSJkEkwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTExNTIyMjkxMFoYDzIxMjYxMDIy
MjIyOTEwWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASxDLf5pNnNzK9DY77dg2XnTHbMG44/5fAgkkCk2FV5R8wRwyWrjZXE
wRon8ASsx2u4poTluI4wkTi3E8yvCpeIo2kwZzAdBgNVHQ4EFgQUJeYVmR8IT9jC
yiekPbAVkuarQG0wHwYDVR0jBBgwFoAUJeYVmR8IT9jCyiekPbAVkuarQG0wDwYD
VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglsb2NhbGhvc3QwCgYIKoZIzj0EAwID
SQAwRgIhAOcqJ2L+iS1Zp4WeRqpVMqXARkTmxXtFL0YA/XEhtyvrAiEA77iq/iLc
pH0H9Hojz1e8+VEvp8fzdpDT7m8g/8VUU4M=
-----END CERTIFICATE-----
`;
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg7PNqS/lvOwJuG40y
LhUCUlMsgrQoA4HO3RqvV9gI9VahRANCAASxDLf5pNnNzK9DY77dg2XnTHbMG44/
5fAgkkCk2FV5R8wRwyWrjZXEwRon8ASsx2u4poTluI4wkTi3E8yvCpeI
-----END PRIVATE KEY-----
`;

const FILES: Record<string, string> = {
  "certificate.pem": CERTIFICATE,
  "key.pem": KEY,
  "other.pem": generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({
    type: "pkcs8",
    format: "pem",
  }) as string,
  "locked.pem": generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({
    type: "pkcs8",
    format: "pem",
    cipher: "aes-256-cbc",
    passphrase: "x",
  }) as string,
  "text.pem": "hello",
};

function read(fileName: string): FileAnswer {
  const text = FILES[fileName];
  return text === undefined ? { wrong: "there is no such file" } : { text };
}

function wrongWith(certificateFile: string, keyFile: string): string[] {
  return checkTls({ certificateFile, keyFile }, read).map(
    ({ path, message }) => `${path.join(".")}: ${message}`,
  );
}

test("a certificate with its own key is good", () => {
  assert.deepEqual(wrongWith("certificate.pem", "key.pem"), []);
});

test("a key of another certificate is refused", () => {
  assert.deepEqual(wrongWith("certificate.pem", "other.pem"), [
    "tls.keyFile: tls.keyFile is not the key of the certificate in tls.certificateFile",
  ]);
});

test("files that are missing or hold something else are each named", () => {
  assert.deepEqual(wrongWith("nowhere.pem", "text.pem"), [
    "tls.certificateFile: tls.certificateFile: nowhere.pem cannot be read: there is no such file",
    "tls.keyFile: tls.keyFile: text.pem does not hold a private key in PEM form, without a passphrase",
  ]);
  assert.match(
    wrongWith("key.pem", "locked.pem").join(),
    /key\.pem does not hold a certificate.*locked\.pem does not hold/,
  );
});

test("half of a pair is checked as far as it goes", () => {
  assert.equal(checkTls({ certificateFile: "text.pem" }, read).length, 1);
  assert.equal(checkTls({ keyFile: "key.pem" }, read).length, 0);
});

test("why a file cannot be read is said in words", () => {
  const failWith = (code: string) => () => {
    throw Object.assign(new Error(`${code}: at /private/path`), { code });
  };
  assert.deepEqual(tryRead(failWith("ENOENT"), "a"), { wrong: "there is no such file" });
  assert.deepEqual(tryRead(failWith("EACCES"), "a"), { wrong: "there is no permission to read it" });
  assert.deepEqual(tryRead(failWith("EISDIR"), "a"), { wrong: "it is a folder" });
  assert.deepEqual(tryRead(failWith("EIO"), "a"), { wrong: "EIO" });
});

test("a page that is empty or too long is refused", () => {
  const page = (text: string) => readPage(["page"], "a.html", () => ({ text }));
  assert.equal(page("<p>").html, "<p>");
  assert.equal(page("").findings.length, 1);
  assert.equal(page("x".repeat(PAGE_CHARACTERS_MAX + 1)).findings.length, 1);
});
