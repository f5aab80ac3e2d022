/** Names in a container's working directory of what the command line's options ship; the executor and the client share them. */

/** Where `--python_venv` is unpacked. */
export const VENV_NAME = "venv";

/** Where `--src_dir` is unpacked; the executor copies it from there into the working directory itself. */
export const SOURCE_NAME = "src-dir";
