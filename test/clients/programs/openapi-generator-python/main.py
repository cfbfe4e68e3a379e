"""The steps of docs/examples with a client of openapi-generator's python."""

import json
import os
import sys
import time
import urllib.parse
import urllib.request
import uuid
from datetime import UTC, datetime
from typing import Any

from openapi_client import (
    AccountsApi,
    ApiClient,
    Category,
    Configuration,
    GetOrderAnswer,
    ListStockBarsBody,
    Market,
    MarketDataApi,
    OrdersApi,
    OrderType,
    PlaceOrderBody,
    PlaceOrderBodyNewOrder,
    Side,
    SupportTradingSession,
    TimeInForce,
    Timespan,
)
from openapi_client.exceptions import ApiException


def sign_in() -> str:
    form = urllib.parse.urlencode({"grant_type": "password", "username": "ada"}).encode()
    with urllib.request.urlopen(f"{os.environ['ISSUER_URL']}/token", form) as answer:
        return str(json.load(answer)["access_token"])


def instant(moment: Any) -> datetime:
    if isinstance(moment, int) or str(moment).isdigit():
        return datetime.fromtimestamp(int(moment) / 1000, UTC)
    return datetime.fromisoformat(str(moment))


token = sign_in()
print("sign-in ok")
configuration = Configuration(
    host=os.environ["GATEWAY_URL"], api_key={"api_key": os.environ["API_KEY"]}, access_token=token
)
client = ApiClient(configuration)
market_data, accounts_api, orders = MarketDataApi(client), AccountsApi(client), OrdersApi(client)

first = market_data.get_stock_snapshots_with_http_info(["AAPL", "MSFT"], Category.US_STOCK)
headers = first.headers or {}
poll_after = int(headers["x-poll-after"])
print(f"snapshots ok {first.data[0].symbol} {first.data[0].price}, ask again after {poll_after} s")

try:
    market_data.get_stock_snapshots(["AAPL", "MSFT"], Category.US_STOCK, if_none_match=headers["etag"])
    sys.exit("no 304")
except ApiException as error:
    if error.status != 304:
        raise
print("not-modified ok")
time.sleep(poll_after)
market_data.get_stock_snapshots(["AAPL", "MSFT"], Category.US_STOCK)

accounts = accounts_api.list_accounts()
account_id = accounts[0].account_id
print("accounts ok", accounts[0].account_label)
balance = accounts_api.get_account_balance(account_id)
print(f"balance ok {balance.total_cash_balance} {balance.total_asset_currency}")

client_order_id = str(uuid.uuid4())


def read_order() -> GetOrderAnswer:
    return orders.get_order(account_id, client_order_id)


order = PlaceOrderBodyNewOrder(
    client_order_id=client_order_id,
    combo_type="NORMAL",
    instrument_type="EQUITY",
    entrust_type="QTY",
    symbol="AAPL",
    market=Market.US,
    side=Side.BUY,
    order_type=OrderType.LIMIT,
    limit_price="20.50",
    quantity="1.50",
    time_in_force=TimeInForce.GTC,
    support_trading_session=SupportTradingSession.CORE,
)
try:
    orders.place_order(PlaceOrderBody(account_id=account_id, new_orders=[order]))
except ApiException as error:
    if error.data is None or error.data.code != "outcome_unknown":
        raise
    read_order()
print("order ok", client_order_id)

shown = read_order().orders[0]
print(f"get-order ok {shown.status}, {shown.total_quantity} shares, {instant(shown.place_time)}")

body = ListStockBarsBody(symbols=["AAPL"], category=Category.US_STOCK, timespan=Timespan.D, count=2)
bars = market_data.list_stock_bars(body).result[0].result
print("bars ok", ", ".join(f"{instant(bar.time).date()} {bar.close}" for bar in bars))

try:
    accounts_api.get_account_balance("NOT-OF-THIS-USER")
    sys.exit("the balance of another account was shown")
except ApiException as error:
    if error.data is None:
        raise
    print(f"refusal ok {error.data.code}: {error.data.detail}")
