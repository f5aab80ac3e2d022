import { beforeEach, expect } from "@jest/globals";

// A test that asserts nothing, or whose assertions are in a callback that never runs, could not fail: so this makes it
// fail.
beforeEach(() => expect.hasAssertions());
