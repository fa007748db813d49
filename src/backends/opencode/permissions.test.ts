import { expect, it } from "vitest";
import { permissionRules } from "./permissions.ts";

it.each(["ask", "read", "none"] as const)(
  "makes opencode ask before acting, but not before reading, under %s",
  (policy) => {
    const rules = JSON.parse(permissionRules(policy, undefined) ?? "") as Record<string, unknown>;
    expect(rules).toMatchObject({ "*": "ask", bash: "ask", edit: "ask", webfetch: "ask", grep: "allow", task: "deny" });
    expect(rules["read"]).toMatchObject({ "*": "allow", "*.env": "ask" });
    expect(Object.keys(rules)[0]).toBe("*"); // the last matching rule wins
  },
);

it("leaves the user's rules unchanged if all is allowed", () => {
  expect(permissionRules("all", undefined)).toBeUndefined();
});

it("forbids edits in mode plan", () => {
  expect(JSON.parse(permissionRules("ask", "plan") ?? "")).toMatchObject({ edit: "deny", bash: "ask" });
});
