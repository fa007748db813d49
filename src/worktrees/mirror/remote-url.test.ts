import { expect, it } from "vitest";
import { mirrorName, parseRemoteUrl, redactUrls } from "./remote-url.ts";

it.each([
  ["https://example.invalid/team/project.git", "https://example.invalid/team/project.git"],
  ["https://user:secret@example.invalid/project", "https://example.invalid/project"],
  ["https://token@example.invalid/project", "https://example.invalid/project"],
  ["https://user:sec@ret@example.invalid/project", "https://example.invalid/project"],
  ["ssh://git:sec@ret@example.invalid/project", "ssh://git@example.invalid/project"],
  ["ssh://git:secret@example.invalid:2222/project", "ssh://git@example.invalid:2222/project"],
  ["git@example.invalid:team/project.git", "git@example.invalid:team/project.git"],
  ["git://127.0.0.1:9418/project.git", "git://127.0.0.1:9418/project.git"],
  ["file:///srv/git/project.git", "file:///srv/git/project.git"],
  ["/srv/git/project.git", "/srv/git/project.git"],
])("stores %s without credentials", (given, url) => {
  expect(parseRemoteUrl(given)).toBe(url);
});

it.each([
  "ext::sh -c 'touch x'",
  "ext::sh%20-c%20touch",
  "fd::17",
  "foo::https://example.invalid/a",
  "--upload-pack=evil",
  "-oProxyCommand=evil",
  "ssh://-oProxyCommand=evil/a",
  "ssh://user@name@-oProxyCommand=evil/a",
  "-oProxyCommand=evil@example.invalid:a",
  "../project",
  "project.git",
  "https://example.invalid/a b",
  "https://example.invalid/\nx",
  "javascript://x",
  "",
])("rejects %j", (given) => {
  expect(() => parseRemoteUrl(given)).toThrow(expect.objectContaining({ code: "input_invalid" }));
});

it("shows no secret of a rejected URL", () => {
  expect(() => parseRemoteUrl("ftp://user:secret@example.invalid/a")).toThrow(/^(?!.*secret)/);
});

it("gives each remote its own folder, and one to URLs that differ only by .git", () => {
  expect(mirrorName("https://example.invalid/team/project.git")).toMatch(/^project-[0-9a-f]{10}$/);
  expect(mirrorName("https://example.invalid/team/project")).toBe(
    mirrorName("https://example.invalid/team/project.git"),
  );
  expect(mirrorName("https://example.invalid/other/project")).not.toBe(
    mirrorName("https://example.invalid/team/project"),
  );
  expect(mirrorName("git@example.invalid:..")).toMatch(/^repository-[0-9a-f]{10}$/);
});

it("removes credentials from messages of git", () => {
  expect(redactUrls("fatal: unable to access 'https://me:secret@example.invalid/': no")).toBe(
    "fatal: unable to access 'https://example.invalid/': no",
  );
  expect(redactUrls("see HTTPS://me:sec@ret@example.invalid/")).toBe("see HTTPS://example.invalid/");
});
