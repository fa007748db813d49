import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { builtEnvironment, temporaryFolder, writeAcpAgent, type AcpStep } from "../../testing/index.ts";
import { connectClient, ConnectionClosed, serveFiles, serveTerminals, startAgent, type GateRequest } from "../index.ts";
import { getRejection } from "./test-scene.ts";

it("drives an agent process and serves it files and commands subject to a gate", async () => {
  await using folder = await temporaryFolder();
  const [cwd, env] = [folder.path, builtEnvironment({ home: folder.path })];
  await writeFile(join(cwd, "a.txt"), "one\ntwo\n");
  const steps: AcpStep[] = [
    { readFile: { path: join(cwd, "a.txt"), line: 2 } },
    { writeFile: { path: join(cwd, "b.txt"), content: "written" } },
    { writeFile: { path: join(cwd, "secret.txt"), content: "written" } },
    { readFile: { path: "/etc/hostname" } },
    { terminal: { command: "cat", args: ["b.txt"] } },
  ];
  const { command } = await writeAcpAgent(cwd, {
    prompts: [steps, [{ stderr: "out of cheese" }, { exit: { code: 7 } }]],
  });
  const asked: string[] = [];
  const gate = (request: GateRequest) => {
    asked.push(request.title.replaceAll(cwd, "."));
    const allowed = !request.title.includes("secret");
    return Promise.resolve(allowed ? { allowed } : { allowed, message: "not that one" });
  };

  await using agent = await startAgent({ command, cwd, env });
  await using terminals = serveTerminals({ roots: [cwd], env, gate });
  await using client = await connectClient({
    transport: agent.transport,
    exit: () => agent.exit(),
    serve: { ...serveFiles({ roots: [cwd], gate }), terminal: terminals },
  });
  const session = await client.session(cwd).create();
  const said = (await session.prompt("go").readText()).replaceAll(/terminal-\w+/g, "T");
  expect(said).toContain('fs/read_text_file: {"content":"two\\n"}');
  expect(said).toContain("fs/write_text_file: {}");
  expect(said).toContain("refused: not that one");
  expect(said).toMatch(/fs\/read_text_file failed: \{"code":-32602/);
  expect(said).toContain(
    'terminal/output: {"output":"written","truncated":false,"exitStatus":{"exitCode":0,"signal":null}}',
  );
  expect(await readFile(join(cwd, "b.txt"), "utf8")).toBe("written");
  expect(asked).toEqual(["read ./a.txt", "write ./b.txt", "write ./secret.txt", "cat b.txt"]);

  const error = await getRejection(session.prompt("go").finish());
  expect(error).toBeInstanceOf(ConnectionClosed);
  expect(error).toMatchObject({ exit: { exitCode: 7, signal: null, stderr: "out of cheese" } });
});
