import { beforeEach, expect } from "@jest/globals";

// A test that asserts nothing, or whose assertions stand in a callback that never runs, cannot fail: it fails for that.
beforeEach(() => expect.hasAssertions());
