import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { shortId } from "../../domain/ids.ts";
import { CLAUDE_ID, CODEX_ID, readRecordedSession, writeDeep } from "../../rookery/test-native-scene.ts";
import { openCommandFixture, type CommandFixture } from "../test-command.ts";

let fixture: CommandFixture;

const adopt = async (...args: string[]) => fixture.rookery(["sessions", "adopt", ...args]);

beforeAll(async () => {
  fixture = await openCommandFixture();
  const cwd = fixture.repository.path;
  const folder = cwd.replaceAll(/[^a-zA-Z0-9]/g, "-");
  await writeDeep(
    join(fixture.home, ".claude", "projects", folder, `${CLAUDE_ID}.jsonl`),
    await readRecordedSession("claude", cwd),
  );
  await writeDeep(
    join(fixture.home, ".codex", "sessions", "2026", "11", "18", `rollout-2026-11-18T20-02-16-${CODEX_ID}.jsonl`),
    await readRecordedSession("codex", cwd),
  );
});
afterAll(() => fixture[Symbol.asyncDispose]());

it("lists what programs keep for the current directory, adopts one by the start of its id, and says what is taken", async () => {
  const listed = await adopt();
  expect(listed.code).toBe(0);
  expect(listed.stdout).toMatch(new RegExp(`^${CLAUDE_ID}  claude-code  just now +Please say hello\\.$`, "m"));
  expect(listed.stdout).toMatch(new RegExp(`^${CODEX_ID}  codex`, "m"));
  expect((await fixture.rookery(["complete", "--", "sessions", "adopt", "35"])).stdout).toBe(
    `${CLAUDE_ID}\tclaude-code: Please say hello.\n`,
  );

  const { code, stdout } = await adopt(CLAUDE_ID.slice(0, 6), "--json", "--title", "Mine");
  expect(code).toBe(0);
  const { session, ...name } = JSON.parse(stdout) as { session: string };
  expect(name).toEqual({ backend: "claude-code", nativeId: CLAUDE_ID });
  expect((await fixture.rookery(["sessions", "show", session])).stdout).toContain("Please write the file.");
  const kept = (await adopt("--backend", "claude-code", "--json")).stdout;
  expect(JSON.parse(kept)).toMatchObject({ nativeId: CLAUDE_ID, session });
  expect((await adopt()).stdout).toContain(`is session ${shortId(session)}: Please say hello.`);

  const again = await adopt(CLAUDE_ID);
  expect(again).toMatchObject({ code: 1, stdout: "" });
  expect(again.stderr).toContain(session);
});

it("adopts a session of another directory by its whole id", async () => {
  const elsewhere = join(fixture.home, "elsewhere");
  await mkdir(elsewhere);
  const { code, stdout } = await adopt(CODEX_ID, "--cwd", elsewhere);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^\w{8} has the conversation of the codex session .* rookery run --session \w{8} "…"\n$/);
});

it("names what is wrong with an id", async () => {
  const unknown = await adopt("99999999-c63c-4b8a-9d04-000000000000");
  expect(unknown.code).toBe(1);
  expect(unknown.stderr).toContain("no program keeps a session 99999999");
  expect((await adopt("../x")).code).toBe(2);
  expect((await adopt("")).code).toBe(2);
  expect((await adopt("x", "--backend", "api")).code).toBe(2);
  expect((await adopt("--cwd", fixture.home)).stdout).toContain("no program keeps a session of");
});
