import { jest } from "@jest/globals";

// Jest takes `testTimeout` for all projects or none; what waits for real daemons needs more than the others.
jest.setTimeout(300_000);
