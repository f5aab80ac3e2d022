import { jest } from "@jest/globals";

// Jest takes `testTimeout` for all projects or none; what waits for real daemons needs more than a unit test's 5 s.
jest.setTimeout(300_000);
