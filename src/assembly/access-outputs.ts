/**
 * The outputs of the access log: a file, by its name, or standard output.
 *
 * Files are written on libuv's threads, since a disk may be slow. Standard output is usually a pipe or a socket, which Node
 * writes without waiting; if it is a file, it is written like one.
 */
import { close, constants, fstatSync, open, write, writeSync } from "node:fs";
import { STANDARD_OUTPUT } from "../config/schema.ts";
import type { Destination, Output } from "../gateway/access-log/line-writer.ts";

const STDOUT_FD = 1;
/** Not readable by everyone: lines contain visitors' addresses. */
const FILE_MODE = 0o640;
/** With O_NONBLOCK a pipe without a reader is an error instead of a wait. */
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such folder",
  EACCES: "there is no permission to write it",
  EPERM: "there is no permission to write it",
  EISDIR: "it is a folder",
  EROFS: "the disk can only be read",
  ENXIO: "nobody reads this pipe",
};

export function destinationOf(to: string): Destination {
  if (to === STANDARD_OUTPUT) return { name: to, hasOwnLog: true, open: async () => standardOutput() };
  return { name: to, hasOwnLog: false, open: () => openFile(to) };
}

function openFile(name: string): Promise<Output> {
  return new Promise((resolve, reject) => {
    open(name, APPEND, FILE_MODE, (error, fd) => {
      if (error === null) resolve(fileOutput(fd, () => close(fd)));
      else reject(openFailure(name, error));
    });
  });
}

function openFailure(name: string, error: NodeJS.ErrnoException): Error {
  const why = WORDS[error.code ?? ""] ?? error.message;
  const message = `the access log ${name} cannot be opened: ${why}`;
  return Object.assign(new Error(message, { cause: error }), { code: error.code });
}

function fileOutput(fd: number, closeFile: () => void): Output {
  const { dev, ino } = fstatSync(fd);
  return {
    identity: `${dev} ${ino}`,
    write: (bytes, done) => {
      write(fd, bytes, 0, bytes.length, null, (error, written) => done(error, written ?? 0));
    },
    writeNow: (bytes) => {
      for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    },
    close: closeFile,
  };
}

function standardOutput(): Output {
  if (fstatSync(STDOUT_FD).isFile()) return fileOutput(STDOUT_FD, () => {});
  const { stdout } = process;
  // An error without a listener would end the process; the writer gets it by its callback.
  if (stdout.listenerCount("error") === 0) stdout.on("error", () => {});
  return {
    identity: STANDARD_OUTPUT,
    write: (bytes, done) => {
      stdout.write(bytes, (error) => done(error ?? null, error ? 0 : bytes.length));
    },
    // Written at once if there is room; the process does not wait for a reader.
    writeNow: (bytes) => void stdout.write(bytes),
    close: () => {},
  };
}
