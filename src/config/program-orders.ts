/**
 * A table of the files in a repository that each agent's program obeys, with the program version in which this was
 * observed.
 */

import type { ProgramFamily } from "../domain/program-family.ts";

export interface OrderSource {
  /** A file, or a directory with everything in it. Applies to the working directory and its parents up to the root. */
  readonly path: string;
  /** The program also finds it below the working directory. */
  readonly below?: true;
  /** Names in the directory that the program writes itself and does not obey. */
  readonly except?: readonly string[];
  /**
   * Applies only if the program certainly belongs to this family. For `.env`, which people change often and no other
   * program in the table reads. An unrecognized wrapper of the program is therefore not covered.
   */
  readonly ofKnownProgram?: true;
  /** What the file controls. */
  readonly why: string;
}

/**
 * Files that only a model reads (CLAUDE.md, AGENTS.md, GEMINI.md) are not listed: nothing in them runs by itself, and
 * the model's actions pass the permission gate. Scripts outside of these directories that a hook names are not listed
 * either: trusting the hook means trusting what it runs, like a setup command.
 */
export const ORDERS: Readonly<
  Record<ProgramFamily, { readonly observed: string; readonly sources: readonly OrderSource[] }>
> = {
  claude: {
    observed: "2.1.325",
    sources: [
      {
        path: ".claude",
        below: true, // skills next to the file that it works on
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

/** The name of the program in `node_modules/.bin`. */
export const PROGRAM_NAMES: Readonly<Record<ProgramFamily, string>> = {
  claude: "claude",
  codex: "codex",
  gemini: "gemini",
  opencode: "opencode",
};
