// The work of the scripted agent for each task. Each recipe looks first, so it continues where it was interrupted.

const LANGUAGES = { de: "Hallo", fr: "Bonjour", it: "Ciao" };

export const RECIPES = {
  async guide({ write, commit, pause }) {
    await pause();
    write("docs/guide.md", "# Guide\n\nSay hello: `node hello.mjs`\n");
    commit("Write a guide");
    return "The guide is written.";
  },

  /** Leaves its changes for Rookery to commit. Two comments of a review change what it writes. */
  async changelog({ write, pause, told }) {
    await pause();
    const title = told("Call it a changelog.") ? "Changelog" : "Changes";
    const change = told("Say to whom.") ? "It says hello to everyone." : "It says hello.";
    write("CHANGELOG.md", `# ${title}\n\n- ${change}\n`);
    return "The changes are listed.";
  },

  async licence({ write, commit, pause }) {
    write("LICENSE", "Do what you like.\n");
    commit("Add a licence");
    await pause();
    write("NOTICE", "hello is anyone's.\n");
    commit("Add a notice");
    return "There is a licence, and a notice.";
  },

  async name({ read, write, commit, ask }) {
    if (read("hello.mjs").includes('"world"')) {
      const { name } = await ask("Who is to be greeted?", { name: { type: "string", title: "A name" } });
      write("hello.mjs", read("hello.mjs").replace('"world"', JSON.stringify(name)));
    }
    commit("Greet someone");
    return "It greets whom you said.";
  },

  /** Waits after the first change. The story stops it there and resumes it with a prompt. */
  async languages({ write, commit, pause, told, wait }) {
    for (const [language, word] of Object.entries(LANGUAGES)) {
      write(`languages/${language}.txt`, `${word}\n`);
      commit(`Say hello in ${language}`);
      await pause();
      if (!told("are checked")) await wait(`Wait until the words of ${language} are checked`);
    }
    return "It knows three languages.";
  },

  /** Forgets something at first; the check reports it. */
  async release({ write, commit, pause, told }) {
    await pause();
    write("RELEASE.md", "# Release\n\nIt greets people, and there is a guide.\n");
    commit("Write what is new");
    if (told("which version")) write("VERSION", "1.1.0\n");
    commit("Say which version it is");
    return "The release is ready.";
  },

  /** Changes a line that another task changes too. Resolves the conflict if somebody asks for it. */
  async everyone({ read, write, commit, pause, told, merge }) {
    await pause();
    if (told("Your branch conflicts with main.")) {
      merge("main", "hello.mjs", (theirs) => theirs.replace(/"(\w+)"/, '"$1 and everyone"'));
      return "It greets everyone, and one by name.";
    }
    write("hello.mjs", read("hello.mjs").replace('"world"', '"everyone"'));
    commit("Greet everyone");
    return "It greets everyone.";
  },

  async deploy({ pause }) {
    await pause();
    throw new Error("there is no host to deploy to");
  },

  /** Changes nothing. */
  async audit({ permit, once, pause }) {
    await pause();
    if (!(await permit("Count the words of every file"))) return "I was not allowed to look.";
    once("audited");
    return "Nothing is wrong with it.";
  },

  async experiment({ write, pause }) {
    await pause();
    write("experiment.txt", "Would it be faster backwards?\n");
    return "It is not faster.";
  },
};
