/** Ports of a world: each call goes through what the world does to it, such as delays, faults and deaths. */

type Method = (...given: unknown[]) => Promise<unknown>;

/** @param through receives the name of the method and its call */
export const throughEach = <Port extends object>(
  port: Port,
  through: (name: string, call: () => Promise<unknown>) => Promise<unknown>,
): Port =>
  new Proxy(port, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function') return method;
      return (...given: unknown[]) =>
        through(String(name), () => Reflect.apply(method as Method, target, given));
    },
  });
