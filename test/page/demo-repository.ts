/** The repository of the demo scene, and the replies of the scripted model that works in it. */
import { call, say, type Script } from "../../src/testing/index.ts";

const QUEUE = `import type { Store } from "./store.ts";

export interface Job {
  readonly id: string;
  readonly payload: unknown;
}

export class Queue {
  #store: Store;
  #waiting: Job[] = [];

  constructor(store: Store) {
    this.#store = store;
  }

  push(job: Job): void {
    this.#waiting.push(job);
  }

  async drain(): Promise<void> {
    for (const job of this.#waiting) {
      await this.#store.save(job);
    }
    this.#waiting = [];
  }
}
`;
const DRAIN = `    for (const job of this.#waiting) {
      await this.#store.save(job);
    }
    this.#waiting = [];
`;
const NEW_DRAIN = `    while (this.#waiting.length > 0) {
      const [job] = this.#waiting;
      await this.#store.save(job);
      this.#waiting.shift(); // only after it is saved
    }
`;
const TEST = `import assert from "node:assert/strict";
import { test } from "node:test";

test("keeps a job that is pushed while it drains", async () => {
  const saved = await drainWithLatePush();
  assert.deepEqual(saved, ["a", "b"]);
});
`;
const ANSWER = `\`drain()\` emptied the list after the loop, so a job that was pushed **while** it saved got lost.

- Each job is removed only after it is saved.
- A test pushes a job during \`drain()\`.

| case | before | after |
| --- | ---: | ---: |
| one writer | 0 lost | 0 lost |
| push while draining | 1 lost | 0 lost |
`;

export const DEMO_FILES: Readonly<Record<string, string>> = {
  "README.md": "# Tern\n\nA small job queue.\n",
  "package.json": '{ "name": "tern", "type": "module" }\n',
  "src/queue.ts": QUEUE,
  "src/store.ts": "export interface Store {\n  save(job: unknown): Promise<void>;\n}\n",
};

export const DEMO_PROMPTS = {
  fix: "Jobs that are pushed while drain() runs get lost. Find out why, fix it, and add a test.",
  ask: "Publish version 1.4.0: update the change log, tag it, and push the tag.",
  work: "Add a timeout of 30 seconds to every call of the store, with a test.",
  merge: "Write down in docs/tests.md how to run the tests.",
  fail: "Move the queue to the new store API.",
} as const;

const USAGE = { input: 18_400, output: 1_260 };

/** `working` answers the task that stays at work; it resolves when the scene is disposed. */
export function makeDemoScript(working: Promise<unknown>): Script {
  return async ({ messages }) => {
    const text = messages.find(({ role }) => role === "user")?.text ?? "";
    const steps = messages.flatMap(({ toolResults }) => toolResults).length;
    if (text.includes(DEMO_PROMPTS.fix)) return fixQueue(steps);
    if (text.includes(DEMO_PROMPTS.ask)) {
      if (steps > 0) return say("Done.");
      const more = {
        text: "The change log and the tag are ready. Pushing the tag publishes the release.",
        usage: USAGE,
      };
      return call("bash", { command: "git push origin v1.4.0" }, more);
    }
    if (text.includes(DEMO_PROMPTS.work)) {
      if (steps === 0)
        return call("read", { path: "src/store.ts" }, { text: "I look at the store first.", usage: USAGE });
      await working;
      return say("Done.");
    }
    if (text.includes(DEMO_PROMPTS.merge)) {
      if (steps > 0) return say("docs/tests.md says how to run the tests.", { usage: USAGE });
      return call("write", { path: "docs/tests.md", content: "# Tests\n\n    npm test\n" }, { usage: USAGE });
    }
    return say("The new API is not published yet, so I changed nothing.", { usage: USAGE });
  };
}

function fixQueue(steps: number) {
  if (steps === 0) return call("read", { path: "src/queue.ts" }, { text: "I read the queue first.", usage: USAGE });
  if (steps === 1) {
    const input = { path: "src/queue.ts", old_text: DRAIN, new_text: NEW_DRAIN };
    return call("edit", input, {
      thinking: "The list is emptied after the loop, so late jobs are dropped.",
      usage: USAGE,
    });
  }
  if (steps === 2) return call("write", { path: "test/queue.test.ts", content: TEST }, { usage: USAGE });
  return say(ANSWER, { usage: { input: 21_900, output: 2_040 } });
}
