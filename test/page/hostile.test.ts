// own process: starts a browser
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openHttp, type HttpScene } from "../../src/server/http/test-scene.ts";
import { DisposeStack } from "../../src/stdx/index.ts";
import { temporaryFolder } from "../../src/testing/index.ts";
import { findBrowser, startBrowser } from "./browser.ts";
import { SessionLog, type BodyOfTurn } from "./session-log.ts";

const found = await findBrowser();
const isSlowRun = process.env["ROOKERY_SLOW"] === "1";

/** Each would call `attack()`, load something, or leave the page. */
const ATTACKS: readonly string[] = [
  "<script>attack()</script>",
  '<img src="x" onerror="attack()">',
  '<img src="https://attacker.example/pixel.png">',
  "![pixel](https://attacker.example/pixel.png)",
  "![data](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YXR0YWNrKCk+)",
  '<svg onload="attack()"><script>attack()</script></svg>',
  '<iframe src="javascript:attack()"></iframe>',
  '<iframe srcdoc="<script>parent.attack()</script>"></iframe>',
  '<style>@import "https://attacker.example/style.css"; * { display: none }</style>',
  '<link rel="stylesheet" href="https://attacker.example/style.css">',
  '<meta http-equiv="refresh" content="0;url=https://attacker.example/">',
  '<base href="https://attacker.example/">',
  '<form action="https://attacker.example/"><button autofocus>go</button></form>',
  "[click](javascript:attack())",
  "[click](  JaVaScRiPt:attack())",
  "[click](java\tscript:attack())",
  "[click](&#106;avascript:attack())",
  "[click](data:text/html,<script>attack()</script>)",
  "[click](vbscript:attack())",
  "[click](/sign-in?ticket=x)",
  "<javascript:attack()>",
  "[ref]: javascript:attack()\n\n[ref]",
  '[title](https://example.org "x\\" onmouseover=\\"attack()")',
  "`<script>attack()</script>`",
  "```html\n<script>attack()</script>\n```",
  '```"><script>attack()</script>\ncode\n```',
  '| <script>attack()</script> |\n| --- |\n| <img src=x onerror="attack()"> |',
  '<details open ontoggle="attack()"><summary>x</summary></details>',
  "<math><mtext><table><mglyph><style><img src=x onerror=attack()>",
  "&lt;img src=x onerror=attack()&gt;",
  "\u202egnihtyreve etirw\u202c and \u2066hide\u2069 \u200b\u200e\ufeff",
  "\u001b[31mred\u001b[0m \u001b]8;;javascript:attack()\u0007link\u001b]8;;\u0007 \u0007\u0000\u0008",
];

const BOMBS: readonly string[] = [
  "x".repeat(10_000_000),
  ">".repeat(100_000),
  "> ".repeat(50_000),
  "- ".repeat(50_000),
  Array.from({ length: 2_000 }, (_, depth) => `${"  ".repeat(depth)}- a`)
    .join("\n")
    .slice(0, 400_000),
  "[".repeat(100_000),
  "![a](".repeat(20_000),
  "*a **b ".repeat(20_000),
  "_a".repeat(50_000),
  "`".repeat(100_000),
  `${"|a".repeat(2_000)}\n${"|-".repeat(2_000)}\n${`${"|b".repeat(2_000)}\n`.repeat(100)}`,
  `| a |\n| - |\n${"| b |\n".repeat(50_000)}`,
  "\n".repeat(100_000),
  "<div>".repeat(20_000),
  "\u202e".repeat(20_000),
  "```\n".repeat(30_000),
];

/** One of every event that shows text. */
function everywhere(text: string, index: number): BodyOfTurn[] {
  const short = text.slice(0, 2_000);
  const ids = { toolId: `t${index}`, messageId: `m${index}` };
  return [
    { type: "message.delta", messageId: `d${index}`, text },
    { type: "message.completed", messageId: ids.messageId, text },
    { type: "thought.delta", messageId: ids.messageId, text },
    { type: "input.delivered", inputId: `i${index}`, input: [{ type: "text", text }] },
    { type: "tool.started", toolId: ids.toolId, name: short, title: short, kind: "other", input: { text, [short]: 1 } },
    {
      type: "tool.ended",
      toolId: ids.toolId,
      outcome: "ok",
      text,
      diffs: [{ path: short, before: text.slice(0, 50_000), after: "after" }],
      blobs: [{ type: "blob", hash: `sha256:${"0".repeat(64)}`, mediaType: "image/svg+xml", name: short }],
    },
    { type: "notice", level: "warning", code: "x", message: text },
    { type: "plan.updated", entries: [{ content: text, status: "pending" }] },
    { type: "output.text", text },
    { type: "subagent.started", childSessionId: `ses_${index}`, title: short },
    { type: "turn.parked", until: "2030-01-01T00:00:00Z", message: short },
  ];
}

describe.skipIf("missing" in found)(`hostile content${"missing" in found ? `: ${found.missing}` : ""}`, () => {
  const owned = new DisposeStack();
  let scene: HttpScene;
  let browser: Browser;
  beforeAll(async () => {
    scene = owned.use(await openHttp());
    browser = await startBrowser(owned.use(await temporaryFolder()).path);
    owned.defer(() => browser.close());
  });
  afterAll(() => owned[Symbol.asyncDispose]());

  async function openWatched(path: string): Promise<{ readonly page: Page; readonly incidents: string[] }> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 2_600 } });
    const page = await context.newPage();
    const incidents: string[] = [];
    await page.exposeFunction("attack", () => incidents.push("attack() was called"));
    await page.addInitScript(() => {
      addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => {
        console.error(`policy: ${violatedDirective} ${blockedURI}`);
      });
    });
    page.on("console", (message) => {
      if (message.text().startsWith("policy:")) incidents.push(message.text());
    });
    page.on("dialog", (dialog) => incidents.push(`dialog ${dialog.message()}`));
    page.on("popup", (popup) => incidents.push(`popup ${popup.url()}`));
    page.on("pageerror", (error) => incidents.push(`error ${error.message}`));
    context.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(scene.server.url) && !url.startsWith("blob:")) incidents.push(`request ${url}`);
    });
    await page.goto(scene.server.makeSignInLink().url);
    await page.getByRole("heading", { name: "Roster" }).waitFor();
    await page.goto(`${scene.server.url}${path}`);
    await page.getByRole("group", { name: "Transcript" }).waitFor();
    return { page, incidents };
  }

  /** Scrolls from the end to the start, and opens everything that can be opened. */
  async function visitEverything(page: Page): Promise<number> {
    return page.evaluate(async () => {
      const list = document.querySelector(".transcript-scroll");
      if (list === null) throw new Error("there is no transcript");
      const frame = (): Promise<void> => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
      let opened = 0;
      for (let quiet = 0, steps = 0; quiet < 5 && steps < 500; steps += 1) {
        for (const button of list.querySelectorAll<HTMLElement>("button[aria-expanded=false]")) {
          button.click();
          opened += 1;
        }
        await frame();
        const before = list.scrollTop;
        list.scrollBy(0, -2_000);
        await frame();
        quiet = list.scrollTop === before && before === 0 ? quiet + 1 : 0;
      }
      return opened;
    });
  }

  it("shows markup, scripts and links of agents as text", async () => {
    const log = await new SessionLog(scene.store).open();
    await log.add([{ type: "turn.started", input: [{ type: "text", text: ATTACKS.join("\n\n") }] }]);
    await log.add(ATTACKS.flatMap(everywhere));
    const question = ATTACKS.slice(0, 3).join(" ");
    await log.add([
      {
        type: "question.asked",
        requestId: "q",
        message: question,
        from: question,
        url: "javascript:attack()",
        schema: { type: "object", properties: { [question]: { type: "string", title: question, enum: [question] } } },
      },
      {
        type: "permission.requested",
        requestId: "p",
        toolId: "t",
        tool: question,
        title: question,
        kind: "other",
        input: { question },
        from: question,
      },
    ]);
    const { page, incidents } = await openWatched(`/session/${log.id}`);
    await page.getByRole("button", { name: "Allow y" }).waitFor();
    expect(await visitEverything(page)).toBeGreaterThan(2 * ATTACKS.length);
    const found = await page.evaluate(() => {
      const forbidden = document.querySelectorAll(
        ".conversation :is(script, style, iframe, object, embed, link, base, svg, math, form form, meta, [onerror], [onload], [srcdoc])",
      );
      const links = Array.from(document.querySelectorAll<HTMLAnchorElement>(".markdown a"), ({ protocol }) => protocol);
      return { forbidden: forbidden.length, links: links.filter((protocol) => !protocol.startsWith("http")) };
    });
    expect(found).toEqual({ forbidden: 0, links: [] });
    const text = await page.locator(".transcript-scroll").first().innerText();
    expect(text).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b\u200e\u001b\u0007]/);
    expect(incidents).toEqual([]);
  });

  it.skipIf(!isSlowRun)("stays usable with texts that are too large or too deep", async () => {
    const log = await new SessionLog(scene.store).open();
    await log.add([{ type: "turn.started", input: [{ type: "text", text: "x" }] }]);
    for (const [index, bomb] of BOMBS.entries()) {
      await log.add([
        { type: "message.completed", messageId: `m${index}`, text: bomb },
        {
          type: "tool.started",
          toolId: `t${index}`,
          name: "bash",
          title: bomb.slice(0, 5_000),
          kind: "execute",
          input: {},
        },
        { type: "tool.ended", toolId: `t${index}`, outcome: "ok", text: bomb.slice(0, 1_000_000) },
      ]);
    }
    const { page, incidents } = await openWatched(`/session/${log.id}`);
    const box = page.getByRole("textbox", { name: "Message" });
    const list = page.locator(".transcript-scroll");
    // Scrolls in jumps, because ten million characters have many screens.
    for (const share of [1, 0.9, 0.75, 0.5, 0.3, 0.1, 0]) {
      await list.evaluate((node, to) => node.scrollTo(0, node.scrollHeight * to), share);
      await box.fill(`typed at ${share}`);
      await list
        .locator("button[aria-expanded=false]")
        .first()
        .click({ timeout: 2_000 })
        .catch(() => undefined);
    }
    await box.fill("still here");
    expect(await box.inputValue()).toBe("still here");
    expect(await page.evaluate(() => document.querySelectorAll("*").length)).toBeLessThan(20_000);
    expect(incidents).toEqual([]);
  });
});
