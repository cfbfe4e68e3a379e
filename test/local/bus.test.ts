import { expect, test } from 'vitest';
import { type BusEvent, createLocalBus, envelopeOf } from '../../infra/local/bus.ts';

const entry = { source: 'orders', detailType: 'OrderChanged', detail: '{"quantity": 1.10}' };

test('every subscriber gets what is published while it is subscribed, in order', () => {
  const bus = createLocalBus({ clock: () => 5 });
  const first: BusEvent[] = [];
  const second: BusEvent[] = [];
  const end = bus.subscribe((event) => first.push(event));
  const one = bus.publish(entry, { ...entry, detail: '{}', time: 3, resources: ['a'] });
  bus.subscribe((event) => second.push(event));
  end();
  const two = bus.publish(entry);
  expect(first).toEqual(one);
  expect(second).toEqual(two);
  expect(one).toMatchObject([
    { ...entry, time: 5, resources: [] },
    { detail: '{}', time: 3, resources: ['a'] },
  ]);
  expect(new Set([...one, ...two].map(({ id }) => id)).size).toBe(3);
});

test('a listener that fails, or ends its subscription, costs the others no event', () => {
  const failures: unknown[] = [];
  const bus = createLocalBus({ onFailure: (error) => failures.push(error) });
  const heard: string[] = [];
  bus.subscribe(() => {
    throw new Error('full');
  });
  const end = bus.subscribe(() => {
    heard.push('once');
    end();
  });
  bus.subscribe(() => heard.push('other'));
  bus.publish(entry, entry);
  expect(heard).toEqual(['once', 'other', 'other']);
  expect(failures).toEqual([new Error('full'), new Error('full')]);
});

test('what answers an event is published after all listeners have the event', () => {
  const bus = createLocalBus();
  const types: string[] = [];
  bus.subscribe(({ detailType }) => {
    if (detailType === 'OrderChanged') bus.publish({ ...entry, detailType: 'Reply' });
  });
  bus.subscribe(({ detailType }) => types.push(detailType));
  bus.publish(entry);
  expect(types).toEqual(['OrderChanged', 'Reply']);
});

test('the envelope is what a rule hands on, with the detail byte for byte', () => {
  const bus = createLocalBus({ clock: () => Date.UTC(2026, 10, 22, 17, 30, 1, 999) });
  const [event] = bus.publish(entry);
  const text = envelopeOf(event as BusEvent);
  expect(text).toContain('"detail":{"quantity": 1.10}');
  expect(JSON.parse(text)).toEqual({
    version: '0',
    id: event?.id,
    'detail-type': 'OrderChanged',
    source: 'orders',
    account: '000000000000',
    time: '2026-11-22T17:30:01Z',
    region: 'local',
    resources: [],
    detail: { quantity: 1.1 },
  });
});
