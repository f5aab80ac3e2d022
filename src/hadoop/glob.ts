/**
 * A glob that matches a whole text: `*`, `?`, `{a,b}`, `[a-c]`, `[!a]`, `\*` (org.apache.hadoop.fs.GlobPattern).
 * @throws SyntaxError for a malformed glob
 */
export function globExpression(glob: string): RegExp {
  let depth = 0;
  const source = glob.replace(/\\.|\[[^\]]+\]|[^\w@]/gs, (part) => {
    switch (part) {
      case "*":
        return ".*";
      case "?":
        return ".";
      case "{":
        depth += 1;
        return "(?:";
      case "}":
        if (depth === 0) throw new SyntaxError("a } without its {");
        depth -= 1;
        return ")";
      case ",":
        return depth > 0 ? "|" : ",";
      default:
        return part.length > 1 ? part.replace(/^\[!/, "[^") : `\\${part}`;
    }
  });
  if (depth > 0) throw new SyntaxError("a { without its }");
  return new RegExp(`^(?:${source})$`, "s");
}
