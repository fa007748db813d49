import { expect, it } from "vitest";
import { classifyShellLine, extractShellLine } from "./shell.ts";

it.each([
  ["/bin/bash -lc ls", "ls"],
  ["/bin/bash -lc 'touch x1'", "touch x1"],
  [`/bin/bash -lc "touch '/tmp/a b'"`, "touch '/tmp/a b'"],
  [`/bin/zsh -c 'echo '"'"'it'"'"' is'`, "echo 'it' is"],
  [`bash -lc "echo \\"\\$HOME\\""`, 'echo "$HOME"'],
  ["/usr/bin/env python3 -c 'print(1)'", "/usr/bin/env python3 -c 'print(1)'"],
  ["bash -lc 'a' b", "bash -lc 'a' b"],
  ["./sh -c ls", "./sh -c ls"],
  ["/project/bin/bash -lc ls", "/project/bin/bash -lc ls"],
])("shows %s as %s", (command, line) => {
  expect(extractShellLine(command)).toBe(line);
});

it.each([
  ["ls -la src", "search"],
  ["cat README.md | head -20", "read"],
  ["sed -n '1,40p' src/index.ts", "read"],
  ['rg -n "some words" src', "search"],
  ["grep -r foo . | wc -l", "search"],
  ["cat a | tee b", "execute"],
  ["cat a > b", "execute"],
  ["cat a; rm b", "execute"],
  ["cat a && rm b", "execute"],
  ["cat $(rm b)", "execute"],
  ["cat `rm b`", "execute"],
  ["ls\nrm b", "execute"],
  ["ls & rm b", "execute"],
  ["cat a | xargs rm", "execute"],
  ["find . -delete", "execute"],
  ["rg --pre rm x", "execute"],
  ["rg x --pre=rm", "execute"],
  ["rg --p're' ./x y", "execute"],
  ['rg "--pre" ./x y', "execute"],
  [`rg "x | rg y" --pre "sh"`, "execute"],
  [`rg "x | y" src | head -3`, "search"],
  ["rg 'x", "execute"],
  ["rg -iz x", "execute"],
  ["rg x *", "execute"], // a file may be named --pre=sh
  ["rg x ?*", "execute"],
  ["rg x src/*", "search"],
  ["rg -n pre-commit-z src", "search"],
  ["sed -n 1p -fscript", "execute"],
  ["sed -i s/a/b/ f", "execute"],
  ["sed -n '1w f' g", "execute"],
  ["git status", "execute"],
  ["catapult x", "execute"],
  ["cat <(rm b)", "execute"],
  ["touch x", "execute"],
])("classifies %s as %s", (line, kind) => {
  expect(classifyShellLine(line)).toBe(kind);
});
