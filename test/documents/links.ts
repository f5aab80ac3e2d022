import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/**
 * The relative links of a folder's README, changelog and documents that lead nowhere in it, as `docs/reference/keys.md → gone.md`.
 * @param root a checkout, or the package as it is installed
 */
export function brokenLinks(root: string): string[] {
  const documents = [
    ...readdirSync(root, { encoding: "utf8" }),
    ...readdirSync(path.join(root, "docs"), { recursive: true, encoding: "utf8" }).map((name) =>
      path.join("docs", name),
    ),
  ];
  return documents
    .filter((file) => file.endsWith(".md"))
    .flatMap((file) =>
      linksIn(readFileSync(path.join(root, file), "utf8"))
        .filter((link) => !leadsSomewhere(root, file, link))
        .map((link) => `${file} → ${link}`),
    );
}

/** Targets of `[text](target)` that are no web addresses. */
function linksIn(markdown: string): string[] {
  const targets = Array.from(markdown.matchAll(/\]\(([^)\s]+)\)/g), ([, target = ""]) => target);
  return targets.filter((target) => !/^[a-z]+:/.test(target));
}

function leadsSomewhere(root: string, file: string, link: string): boolean {
  const [target = "", anchor] = link.split("#");
  const found = target === "" ? file : path.join(path.dirname(file), target);
  if (!existsSync(path.join(root, found))) return false;
  return anchor === undefined || anchorsOf(readFileSync(path.join(root, found), "utf8")).includes(anchor);
}

/** As code hosts make them from headings: lower-case letters, dashes for spaces, no other signs. */
function anchorsOf(markdown: string): string[] {
  return Array.from(markdown.matchAll(/^#+ (.*)$/gm), ([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
}
