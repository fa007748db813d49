import { expect, it } from "vitest";
import { maskText, maskUrl, maskValue, maskWords } from "./mask-secrets.ts";

it("masks user info and the query of a URL", () => {
  expect(maskUrl("https://me:secret@host/path?key=1#x")).toBe("https://…@host/path?…");
  expect(maskUrl("https://host/path")).toBe("https://host/path");
});

it("masks secrets among the words of a command", () => {
  const words = ["run", "--api-key=abc", "--token", "abc", "API_KEY=abc", "--verbose", "plain", "$TOKEN"];
  expect(maskWords(words)).toEqual(["run", "--api-key=…", "--token", "…", "API_KEY=…", "--verbose", "plain", "$TOKEN"]);
  expect(maskWords(["npx", "mcp-remote", "https://u:p@host?k=v"])).toEqual(["npx", "mcp-remote", "https://…@host?…"]);
});

it.each([
  ["NPM_TOKEN=abc npm ci && echo done", "NPM_TOKEN=… npm ci && echo done"],
  ["PASSWORD='a b' ./run", "PASSWORD=… ./run"],
  ["TOKEN=$TOKEN ./run", "TOKEN=$TOKEN ./run"],
  ["curl -H sk-ant-0123456789abcdefghij", "curl -H …"],
  ["echo ghp_0123456789abcdefghij", "echo …"],
  ["npm run key", "npm run key"],
  ["env NODE_ENV=test OUTER=API_KEY=abc ./run", "env NODE_ENV=test OUTER=API_KEY=… ./run"],
  ['API_KEY=a;TOKEN="b c";X=1 ./run', "API_KEY=…;TOKEN=…;X=1 ./run"],
  ["API_KEY= ./run", "API_KEY= ./run"],
])("masks secrets in the text %s", (text, masked) => {
  expect(maskText(text)).toBe(masked);
});

it("masks values of configuration by their keys, and keeps the names of variables", () => {
  const table = {
    command: ["server", "--token", "abc"],
    args: ["--api-key=abc"],
    env: { A: "b", TOKEN: "${MY_TOKEN}" },
    headers: { Authorization: "Bearer ${TOKEN}", "X-Key": "abc", X: "abc${A}" },
    oauth: { client_id: "id", client_secret: "abc", scopes: ["read"] },
    url: "https://u:p@host",
    key_env: "MY_KEY",
    budget: { tokens: 5 },
    enabled: true,
    nothing: null,
  };
  expect(maskValue("name", table)).toEqual({
    command: ["server", "--token", "…"],
    args: ["--api-key=…"],
    env: { A: "…", TOKEN: "${MY_TOKEN}" },
    headers: { Authorization: "Bearer ${TOKEN}", "X-Key": "…", X: "…" },
    oauth: { client_id: "id", client_secret: "…", scopes: ["read"] },
    url: "https://…@host",
    key_env: "MY_KEY",
    budget: { tokens: 5 },
    enabled: true,
    nothing: null,
  });
});
