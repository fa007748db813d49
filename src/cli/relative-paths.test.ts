import { expect, it } from "vitest";
import { addLocation, relativeDiffs, relativeInput, shortenPaths } from "./relative-paths.ts";

const FOLDER = "/tmp/x/proj";

it.each([
  ["Read /tmp/x/proj/src/a.ts", "Read src/a.ts"],
  ["/tmp/x/proj/a b.ts", "a b.ts"],
  ["cat '/tmp/x/proj/a' \"/tmp/x/proj/b\"", "cat 'a' \"b\""],
  ["cd /tmp/x/proj && ls /tmp/x/proj/", "cd . && ls ."],
  ["--file=/tmp/x/proj/a:3", "--file=a:3"],
  ["Edit (/tmp/x/proj/a)", "Edit (a)"],
  ["cp /tmp/x/project/a /tmp/x/proj2", "cp /tmp/x/project/a /tmp/x/proj2"],
  ["cp /mnt/tmp/x/proj/a b", "cp /mnt/tmp/x/proj/a b"],
  ["tmp/x/proj/a", "tmp/x/proj/a"],
  ["ls /tmp/x/proj/../other", "ls ../other"],
])("shortens whole paths inside the directory: %s", (text, shown) => {
  expect(shortenPaths(text, FOLDER)).toBe(shown);
  expect(shortenPaths(text, `${FOLDER}/`)).toBe(shown);
});

it("leaves a text as it is without a directory, in the root, and for a directory with special characters", () => {
  for (const folder of [undefined, "", "/", "relative"]) expect(shortenPaths("Read /a/b", folder)).toBe("Read /a/b");
  expect(shortenPaths("Read /a+(b)/c /aab/c", "/a+(b)")).toBe("Read c /aab/c");
});

it("shortens the paths of diffs and of the input of a tool, but no command and no other text", () => {
  expect(relativeDiffs([{ path: "/tmp/x/proj/a b", before: null, after: "" }], FOLDER)).toMatchObject([
    { path: "a b" },
  ]);
  const input = {
    file_path: "/tmp/x/proj/a",
    cwd: FOLDER,
    command: "rm /tmp/x/proj/a",
    content: "/tmp/x/proj/a\nb",
    n: 1,
  };
  expect(relativeInput(input, FOLDER)).toEqual({ ...input, file_path: "a", cwd: "." });
  expect(relativeInput("text", FOLDER)).toBe("text");
});

it("adds the path to a title that only names the tool", () => {
  expect(addLocation("read", "/tmp/x/proj/src/a.ts", FOLDER)).toBe("read src/a.ts");
  expect(addLocation("bash", FOLDER, FOLDER)).toBe("bash");
  expect(addLocation("Read a.ts", "/tmp/x/proj/a.ts", FOLDER)).toBe("Read a.ts");
  expect(addLocation("read", undefined, FOLDER)).toBe("read");
});
