export function provideJars(wanted: {
  readonly what: string;
  readonly pom: string;
  readonly javaHome: string;
}): Promise<string>;
