import { expect, it } from "vitest";
import { permissionRules } from "./permissions.ts";

it.each(["ask", "read", "none"] as const)(
  "has opencode ask for what acts under %s, and not for what looks",
  (policy) => {
    const rules = JSON.parse(permissionRules(policy, undefined) ?? "") as Record<string, unknown>;
    expect(rules).toMatchObject({ "*": "ask", bash: "ask", edit: "ask", webfetch: "ask", grep: "allow", task: "deny" });
    expect(rules["read"]).toMatchObject({ "*": "allow", "*.env": "ask" });
    expect(Object.keys(rules)[0]).toBe("*"); // the last that matches counts
  },
);

it("leaves the user's own rules as they are where all is allowed", () => {
  expect(permissionRules("all", undefined)).toBeUndefined();
});

it("lets the mode that plans forbid edits", () => {
  expect(JSON.parse(permissionRules("ask", "plan") ?? "")).toMatchObject({ edit: "deny", bash: "ask" });
});
