import { describe, expect, it } from "vitest";
import { parseConfig } from "../../src/config/parse.ts";
import { isDecision, isGenerated, readDocuments, type Document, type Fence } from "./documents.ts";
import { openScene } from "./scene.ts";

/**
 * Shell and JavaScript blocks of a page run in order, in one scene. The info string of a block may say:
 * `skip="reason"` (not run), `server` (a server runs), `exit=N` (expected exit code).
 */
const SETTINGS = /^(skip="[^"]+"|server|exit=\d+)$/;

const documents = readDocuments().filter((document) => !isGenerated(document) && !isDecision(document));
const fences = documents.flatMap(({ path, fences: all }) => all.map((fence) => ({ path, ...fence })));

it("blocks have a known language and known settings", () => {
  const languages = ["sh", "js", "ts", "toml", "json", "text", "yaml", "mermaid"];
  const wrong = fences.filter(
    (fence) => !languages.includes(fence.language) || !settings(fence).every((word) => SETTINGS.test(word)),
  );
  expect(wrong).toEqual([]);
});

it.each(fences.filter(({ language }) => language === "toml"))(
  "$path:$line is valid configuration",
  ({ text, path }) => {
    expect(() => parseConfig(text, path)).not.toThrow();
  },
);

it.each(fences.filter(({ language }) => language === "json"))("$path:$line is valid JSON", ({ text }) => {
  expect(() => void JSON.parse(text)).not.toThrow();
});

describe.concurrent("snippets run", () => {
  const pages = documents.filter((document) => runnable(document).length > 0);
  it.each(pages)("$path", { timeout: 400_000 }, async (document) => {
    await using scene = await openScene();
    for (const fence of runnable(document)) {
      try {
        if (settings(fence).includes("server")) await scene.serve();
        if (fence.language === "js") await scene.module(fence.text);
        else await scene.shell(fence.text, exitCode(fence));
      } catch (cause) {
        throw new Error(`${document.path}:${fence.line}: ${cause instanceof Error ? cause.message : String(cause)}`, {
          cause,
        });
      }
    }
  });
});

describe("a wrong snippet is noticed", () => {
  it("in a shell block", async () => {
    await using scene = await openScene();
    await expect(scene.shell("rookery sessions lst", 0)).rejects.toThrow("exit code 2");
  });

  it("in a JavaScript block", async () => {
    await using scene = await openScene();
    await expect(scene.module('import { openRookery } from "rookery";')).rejects.toThrow("exit code 1");
  });

  it("in a configuration block", () => {
    expect(() => parseConfig("[worktree]\nsetups = 1\n", "x.md")).toThrow("setups");
  });
});

function runnable({ fences: all }: Document): Fence[] {
  return all.filter((fence) => {
    const isSkipped = settings(fence).some((word) => word.startsWith("skip="));
    return ["sh", "js"].includes(fence.language) && !isSkipped;
  });
}

function settings({ info }: Fence): string[] {
  return info.match(/\w+="[^"]*"|\S+/g) ?? [];
}

function exitCode(fence: Fence): number {
  return Number(
    settings(fence)
      .find((word) => word.startsWith("exit="))
      ?.slice("exit=".length) ?? 0,
  );
}
