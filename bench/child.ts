/** Servers under measurement run in processes of their own; they print one line of JSON when they are ready. */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";

export interface Child<Ready> {
  readonly ready: Ready;
  /** Asks the child something and waits for its answer. */
  ask<Answer>(question: unknown): Promise<Answer>;
  stop(): Promise<void>;
}

/** Starts `bench/servers/<name>` and waits until it is ready. */
export async function startChild<Ready>(
  name: string,
  args: readonly string[] = [],
  execArgv: readonly string[] = [],
): Promise<Child<Ready>> {
  const script = fileURLToPath(new URL(`./servers/${name}.ts`, import.meta.url));
  const child = fork(script, args, {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    execArgv: [...execArgv],
  });
  const ready = await answerOf<Ready>(child);
  return {
    ready,
    ask: (question) => {
      const answer = answerOf(child);
      child.send(question as object);
      return answer as Promise<never>;
    },
    stop: () =>
      new Promise((resolve) => {
        child.once("exit", () => resolve());
        child.kill("SIGKILL");
      }),
  };
}

function answerOf<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`a bench server ended with ${code}`));
    child.once("exit", onExit);
    child.once("message", (message) => {
      child.off("exit", onExit);
      resolve(message as T);
    });
  });
}
