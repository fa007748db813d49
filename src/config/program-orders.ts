/** Which files of a repository each agent's program takes orders from: a table, by program and the version observed. */

import type { ProgramFamily } from "../domain/program-family.ts";

export interface OrderSource {
  /** A file, or a folder that counts with all that is in it. In the working folder and those above it, up to the root. */
  readonly path: string;
  /** The program finds it in folders below the working folder, too. */
  readonly below?: true;
  /** Names in the folder that the program fills itself and takes no orders from. */
  readonly except?: readonly string[];
  /**
   * Counts only if the program is certainly of this family. For `.env`, which people change often and which no other
   * program of the table reads. A wrapper of the program that is not recognized as such is therefore not covered.
   */
  readonly ofKnownProgram?: true;
  /** What it can do. */
  readonly why: string;
}

/**
 * Files that only a model reads (CLAUDE.md, AGENTS.md, GEMINI.md) are not listed: nothing in them runs by itself, and
 * what the model does because of them passes the permissions. Scripts that a hook names outside of these folders are
 * not listed either: trusting the hook trusts what it runs, as trusting a set-up command does.
 */
export const ORDERS: Readonly<
  Record<ProgramFamily, { readonly observed: string; readonly sources: readonly OrderSource[] }>
> = {
  claude: {
    observed: "2.1.325",
    sources: [
      {
        path: ".claude",
        below: true, // skills beside a file that it works on
        except: ["worktrees"],
        why: "settings.json, settings.local.json, hooks, commands, skills, agents, workflows, routines, output-styles, rules, launch.json, scheduled_tasks.json, loop.md",
      },
      { path: ".claude-plugin", why: "marketplaces and plugins that the settings name" },
      { path: ".mcp.json", why: "programs that are started as MCP servers" },
    ],
  },
  codex: {
    observed: "0.166.0",
    sources: [
      { path: ".codex", why: "config.toml, hooks.json, hooks, rules, agents, skills" },
      { path: ".agents", why: "skills, plugins/marketplace.json" },
      { path: ".claude-plugin", why: "marketplace.json" },
    ],
  },
  gemini: {
    observed: "0.61.0",
    sources: [
      {
        path: ".gemini",
        except: ["worktrees"],
        why: "settings.json, .env, commands with !{…}, extensions, hooks, skills, agents, policies, system.md, sandbox profiles",
      },
      { path: ".agents", why: "skills" },
      { path: ".env", why: "variables, which may say where the key is sent", ofKnownProgram: true },
    ],
  },
  opencode: {
    observed: "1.18.33",
    sources: [
      { path: "opencode.json", why: "plugins, MCP servers, commands, formatters, language servers" },
      { path: "opencode.jsonc", why: "as opencode.json" },
      { path: "tui.json", why: "plugins" },
      { path: "tui.jsonc", why: "plugins" },
      {
        path: ".opencode",
        except: ["plans"],
        why: "opencode.json, plugins, tools, commands, agents, skills, packages",
      },
      { path: ".claude", except: ["worktrees"], why: "skills" },
      { path: ".agents", why: "skills" },
    ],
  },
};

/** The name of the program in `node_modules/.bin`, if the repository has it among its packages. */
export const PROGRAM_NAMES: Readonly<Record<ProgramFamily, string>> = {
  claude: "claude",
  codex: "codex",
  gemini: "gemini",
  opencode: "opencode",
};
