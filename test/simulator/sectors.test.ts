import assert from 'node:assert/strict';
import { test } from 'vitest';
import type { Json } from './player.ts';
import { assertSorted, everyStock, player, snapshotsOf, stocks } from './rankings.ts';
import { testTime } from './support.ts';

test('sectors: all once over the pages though prices move, and each agrees with its detail', () => {
  const query = { ...stocks, direction: 'DESC' };
  const { records, count } = player.pages('listMarketSectors', query, () => (player.now += 30 * 86_400_000));
  player.now = testTime;
  assert.ok(count > 1);
  // Later pages are of the first one's moment.
  assert.deepEqual(records, player.pages('listMarketSectors', query).records);
  assert.equal(new Set(records.map(({ id }) => id)).size, records.length);
  assertSorted(
    records.map(({ market_value: value }) => Number(value)),
    'DESC',
  );
  const counted = records.reduce(
    (sum, { advanced, declined, flat }) => sum + Number(advanced) + Number(declined) + Number(flat),
    0,
  );
  assert.equal(counted, everyStock.length);

  for (const sector of [records[0], records.find(({ id }) => id === '6412')]) {
    const members: Json[] = [];
    let pagination_key: string | undefined;
    do {
      const detail = player.ask('getMarketSectorDetail', {
        ...stocks,
        sector_id: sector.id,
        ...(pagination_key && { pagination_key }),
      });
      for (const name of ['name', 'change_ratio', 'advanced', 'declined', 'flat'])
        assert.equal(detail[name], sector[name], name);
      members.push(...detail.data);
      pagination_key = detail.pagination_key;
      player.now += 30 * 86_400_000;
    } while (pagination_key);
    player.now = testTime;
    assertSorted(
      members.map(({ change_ratio: ratio }) => Number(ratio)),
      'ASC',
    );
    const symbols = members.map(({ symbol }) => symbol);
    assert.equal(
      new Set(symbols).size,
      Number(sector.advanced) + Number(sector.declined) + Number(sector.flat),
    );
    assert.equal(
      members.filter(({ change_ratio: ratio }) => Number(ratio) > 0).length <= Number(sector.advanced),
      true,
    );
    assert.equal(
      members.reduce((sum, { volume }) => sum + Number(volume), 0),
      Number(sector.volume),
    );
    assert.ok(sector.data.every(({ symbol }: Json) => symbols.includes(symbol)));
    const snapshots = snapshotsOf(symbols);
    for (const one of members) assert.equal(one.change_ratio, snapshots.get(one.symbol).change_ratio);
  }
  assert.equal(records.find(({ id }) => id === '6412').name, 'Semiconductors');
  assert.equal(player.refused('getMarketSectorDetail', { ...stocks, sector_id: '1' }), 'ILLEGAL_PARAMETER');
});

test('sectors by another measure and another window', () => {
  const byVolume = player.ask('listMarketSectors', { ...stocks, agg_type: 'VOLUME' }).data;
  assertSorted(
    byVolume.map(({ volume }: Json) => Number(volume)),
    'ASC',
  );
  const month = player.ask('listMarketSectors', { ...stocks, period: 'MO1' }).data;
  assert.notDeepEqual(player.ask('listMarketSectors', { ...stocks, period: 'D1' }).data, month);
});
