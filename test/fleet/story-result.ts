/** The result of the story of `examples/fleet`, which is the same however often the server is killed. */
export interface StoryResult {
  /** The first-parent history of `main`, newest first: number of parents and subject. */
  readonly history: readonly string[];
  /** The commits that merge commits brought in. */
  readonly merged: readonly string[];
  /** The files that tasks made. */
  readonly tree: Readonly<Record<string, string>>;
  /** Each piece of work, as often as it was done. */
  readonly ledger: readonly string[];
  /**
   * By task: the agents of the turns that ended with `done`. Interrupted turns end with another status and are
   * continued.
   */
  readonly done: Readonly<Record<string, readonly string[]>>;
  /** Tasks that were resumed once. */
  readonly resumed: readonly string[];
  /** Tasks that keep their worktree and branch. */
  readonly kept: readonly string[];
}

export const HTTP_STORY: StoryResult = {
  history: [
    "2 Merge task languages: Say hello in three languages",
    "1 Add a notice",
    "1 Add a licence",
    "1 List what changed",
    "1 Prepare a release",
    "2 Merge task name: Greet someone by name",
    "2 Merge task guide: Write a guide",
    "1 Say hello",
  ],
  merged: ["Greet someone", "Say hello in de", "Say hello in fr", "Say hello in it", "Write a guide"],
  tree: {
    "CHANGELOG.md": "# Changes\n\n- It says hello.",
    LICENSE: "Do what you like.",
    NOTICE: "hello is anyone's.",
    "RELEASE.md": "# Release\n\nIt greets people, and there is a guide.",
    VERSION: "1.1.0",
    "docs/guide.md": "# Guide\n\nSay hello: `node hello.mjs`",
    "hello.mjs": 'const name = "Ada";\n\nconsole.log(`Hello, ${name}!`);',
    "languages/de.txt": "Hallo",
    "languages/fr.txt": "Bonjour",
    "languages/it.txt": "Ciao",
  },
  ledger: [
    "audit audited",
    "changelog CHANGELOG.md",
    "everyone hello.mjs",
    "experiment experiment.txt",
    "guide docs/guide.md",
    "languages languages/de.txt",
    "languages languages/fr.txt",
    "languages languages/it.txt",
    "licence LICENSE",
    "licence NOTICE",
    "name hello.mjs",
    "release RELEASE.md",
    "release VERSION",
  ],
  done: {
    audit: ["coder"],
    changelog: ["coder"],
    deploy: [],
    everyone: ["coder"],
    experiment: ["coder"],
    guide: ["coder"],
    languages: ["coder"],
    licence: ["coder"],
    name: ["coder"],
    release: ["coder", "coder", "reviewer"],
  },
  resumed: ["languages"],
  kept: ["everyone"],
};
