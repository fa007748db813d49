/** The result of the story if a person plays it on the page: the comments and the conflict have an effect. */
import { HTTP_STORY, type StoryResult } from "../../fleet/story-result.ts";

export const PAGE_STORY: StoryResult = {
  history: ["2 Merge task everyone: Greet everyone", ...HTTP_STORY.history],
  merged: [...HTTP_STORY.merged, "Greet everyone", "Merge main"].sort(),
  tree: {
    ...HTTP_STORY.tree,
    "CHANGELOG.md": "# Changelog\n\n- It says hello to everyone.",
    "hello.mjs": 'const name = "Ada and everyone";\n\nconsole.log(`Hello, ${name}!`);',
  },
  ledger: [...HTTP_STORY.ledger, "changelog CHANGELOG.md", "everyone hello.mjs"].sort(),
  done: { ...HTTP_STORY.done, changelog: ["coder", "coder"], everyone: ["coder", "coder"] },
  resumed: ["changelog", "everyone", "languages"],
  kept: [],
};
