import { jest } from "@jest/globals";

// Jest takes `testTimeout` for all projects or for none, and tests that wait for real daemons need more than the
// others.
jest.setTimeout(300_000);
