// own process: starts a browser
/**
 * Draws the pictures of docs/page.md: every screen, light and dark, narrow and wide. `ROOKERY_PICTURES=write` writes them;
 * otherwise the test fails if a screen does not show its content or a picture is missing. Pixels are not compared: ages and
 * fonts differ between machines.
 */
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser } from "./browser.ts";
import { openDemoScene, type DemoScene } from "./demo-scene.ts";

const found = await findBrowser();
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const FOLDER = join(ROOT, "docs/images/page");
const GALLERY = join(ROOT, "docs/page-pictures.md");
const WRITES = process.env["ROOKERY_PICTURES"] === "write";
/** All pictures together. */
const MAX_BYTES = 3 * 1024 * 1024;

const SCREENS: readonly (readonly [name: string, path: string, content: string, title: string])[] = [
  ["roster", "/", "Keep jobs that are pushed", "Roster"],
  ["board", "/board", "Keep jobs that are pushed", "Board"],
  ["inbox", "/inbox", "Which release should the fix go to?", "Inbox"],
  ["session", "/session/SESSION", "ten writers", "Session"],
  ["task", "/task/fix-drain", "push while draining", "Task"],
  ["task-changes", "/task/fix-drain/changes", "only after it is saved", "Changes of a task"],
  ["task-checks", "/task/fix-drain/checks", "test", "Checks of a task"],
  ["task-events", "/task/fix-drain/events", "run 1", "Events of a task"],
  ["activity", "/activity", "Publish version 1.4.0", "Activity"],
  ["usage", "/usage", "claude-sonnet-5", "Usage"],
  ["agents", "/agents", "files-server", "Agents"],
];
const SIZES = [
  [1440, 900],
  [390, 844],
] as const;
const THEMES = ["light", "dark"] as const;
const fileOf = (name: string, theme: string, width: number): string => `${name}-${theme}-${width}.webp`;
const FILES = SCREENS.flatMap(([name]) =>
  SIZES.flatMap(([width]) => THEMES.map((theme) => fileOf(name, theme, width))),
);

describe.skipIf("missing" in found)("the pictures of the page", () => {
  let scene: DemoScene;
  beforeAll(async () => {
    scene = await openDemoScene();
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  it.each(SCREENS)("show the screen %s", async (name, path, content) => {
    for (const [width, height] of SIZES) {
      const isPhone = width < 500;
      const options = { viewport: { width, height }, hasTouch: isPhone, isMobile: isPhone };
      const page = await scene.open(path.replace("SESSION", scene.sessionId), options);
      for (const colorScheme of THEMES) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        await page.locator("main").getByText(content).last().waitFor();
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect([width, overflow]).toEqual([width, 0]);
        if (WRITES) await writePicture(page, fileOf(name, colorScheme, width));
      }
      await page.context().close();
    }
  });
});

it("are all there, small, and linked", async () => {
  if (WRITES) await writeFile(GALLERY, formatGallery());
  const sizes = await Promise.all(FILES.map(async (file) => (await stat(join(FOLDER, file))).size));
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(MAX_BYTES);
  const text = await readFile(GALLERY, "utf8");
  expect(FILES.filter((file) => !text.includes(`images/page/${file}`))).toEqual([]);
});

function formatGallery(): string {
  const sections = SCREENS.map(([name, , , title]) => {
    const picture = (theme: string, width: number): string =>
      `![${title}, ${theme}, ${width} pixels wide](images/page/${fileOf(name, theme, width)})`;
    return `## ${title}\n\n${SIZES.flatMap(([width]) => THEMES.map((theme) => picture(theme, width))).join("\n\n")}\n`;
  });
  const head =
    "# Pictures of the page\n\n`test/page/pictures.slow.test.ts` draws them from a server with a small fleet.\n";
  return [head, ...sections].join("\n");
}

/** WebP, because a PNG of the same screen has three times the size. */
async function writePicture(page: Page, file: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 82 });
  await session.detach();
  await mkdir(FOLDER, { recursive: true });
  await writeFile(join(FOLDER, file), Buffer.from(data, "base64"));
}
