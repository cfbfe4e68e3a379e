/** Signs in, reads quotes and an account, and places an order: with a client that openapi-generator makes for Kotlin. */

import java.math.BigDecimal
import java.time.Instant
import java.util.UUID
import kotlin.system.exitProcess
import okhttp3.FormBody
import okhttp3.OkHttpClient
import okhttp3.Request
import org.openapitools.client.apis.AccountsApi
import org.openapitools.client.apis.MarketDataApi
import org.openapitools.client.apis.OrdersApi
import org.openapitools.client.infrastructure.ApiClient
import org.openapitools.client.infrastructure.ApiResponse
import org.openapitools.client.infrastructure.ClientError
import org.openapitools.client.infrastructure.ClientException
import org.openapitools.client.infrastructure.ServerError
import org.openapitools.client.infrastructure.ServerException
import org.openapitools.client.infrastructure.Success
import org.openapitools.client.models.*

fun env(name: String): String = System.getenv(name) ?: error("$name is not set")

/** In an app its library for OpenID Connect does this, with the user in front of it. */
fun signIn(): String {
    val form = FormBody.Builder().add("grant_type", "password").add("username", "ada").build()
    val request = Request.Builder().url("${env("ISSUER_URL")}/token").header("accept", "text/plain").post(form)
    OkHttpClient().newCall(request.build()).execute().use {
        val text = it.body!!.string()
        check(it.isSuccessful) { text }
        return text
    }
}

/** A time as the upstream writes it: milliseconds, the same in digits, or ISO 8601 text with +0000. */
fun instant(time: Any?): Instant =
    // Moshi and Gson make a Double of milliseconds.
    time.toString().toBigDecimalOrNull()?.let { Instant.ofEpochMilli(it.toLong()) }
        ?: Instant.parse(time.toString().replace("+0000", "Z"))

/** `code` is for programs, `detail` for people. */
class Refused(val refusal: Refusal) : Exception("${refusal.code}: ${refusal.detail}")

/** What the call returns. @throws Refused for an answer that refuses */
fun <T> must(call: () -> T): T {
    val response = try {
        return call()
    } catch (exception: ClientException) {
        exception.response
    } catch (exception: ServerException) {
        exception.response
    }
    val body = (response as? ClientError<*>)?.body ?: (response as? ServerError<*>)?.body
    throw Refused(refusalOf(body.toString()) ?: error("an answer without a body"))
}

fun main() {
    try {
        run()
        exitProcess(0)
    } catch (exception: Exception) {
        exception.printStackTrace()
        exitProcess(1)
    }
}

fun run() {
    prepareJson()
    val url = env("GATEWAY_URL")
    // The key says which app calls, the token who.
    ApiClient.apiKey["x-api-key"] = env("API_KEY")
    ApiClient.accessToken = signIn()
    println("sign-in ok")

    val marketData = MarketDataApi(url)
    val quotes = { etag: String? ->
        marketData.getStockSnapshotsWithHttpInfo(listOf("AAPL", "MSFT"), Category.US_STOCK, null, null, null, etag)
    }
    val first = quotes(null)
    val (apple) = (first as Success).data!!
    val pollAfter = header(first, "x-poll-after").toLong()
    println("snapshots ok ${apple.symbol} ${apple.price}, ask again after $pollAfter s")

    val second = quotes(header(first, "etag"))
    check(second.statusCode == 304) { "${second.statusCode} in place of 304: the quotes have changed" }
    println("not-modified ok")
    // Nothing new is there before: an app waits as long as it is told.
    Thread.sleep(pollAfter * 1000)
    must { marketData.getStockSnapshots(listOf("AAPL", "MSFT"), Category.US_STOCK) }

    val accounts = must { AccountsApi(url).listAccounts() }
    val accountId = accounts.first().accountId
    println("accounts ok ${accounts.joinToString { "${it.accountLabel}" }}")

    val balance = must { AccountsApi(url).getAccountBalance(accountId) }
    println("balance ok ${balance.totalCashBalance} ${balance.totalAssetCurrency}")

    val orders = OrdersApi(url)
    val clientOrderId = UUID.randomUUID().toString()
    val getOrder = { must { orders.getOrder(accountId, clientOrderId) } }
    val order = PlaceOrderBodyNewOrder(
        clientOrderId = clientOrderId,
        comboType = PlaceOrderBodyNewOrder.ComboType.NORMAL,
        instrumentType = PlaceOrderBodyNewOrder.InstrumentType.EQUITY,
        entrustType = PlaceOrderBodyNewOrder.EntrustType.QTY,
        symbol = "AAPL",
        market = Market.US,
        side = Side.BUY,
        orderType = OrderType.LIMIT,
        limitPrice = "20.50",
        // A decimal is text from the user's input to the wire: no digit is lost.
        quantity = "1.50",
        timeInForce = TimeInForce.GTC,
        supportTradingSession = SupportTradingSession.CORE,
    )
    try {
        must { orders.placeOrder(PlaceOrderBody(accountId, listOf(order))) }
    } catch (refused: Refused) {
        if (refused.refusal.code != "outcome_unknown") throw refused
        // The order may have been placed: it is read, and never sent again unless it is not there.
        println("The answer was lost. ${refused.refusal.findOut}")
        getOrder()
    }
    println("order ok $clientOrderId")

    val shown = getOrder().orders.first()
    check(BigDecimal(shown.totalQuantity).compareTo(BigDecimal("1.50")) == 0) { shown }
    println("get-order ok ${shown.status}, ${shown.totalQuantity} shares, ${instant(shown.placeTime)}")

    val bars = must {
        marketData.listStockBars(ListStockBarsBody(listOf("AAPL"), Category.US_STOCK, Timespan.D, 2))
    }
    val days = bars.result.first().result.joinToString { "${instant(it.time).toString().take(10)} ${it.close}" }
    println("bars ok $days")

    try {
        must { AccountsApi(url).getAccountBalance("ANOTHER-USERS-ACCOUNT") }
        error("the balance of another user's account was shown")
    } catch (refused: Refused) {
        println("refusal ok ${refused.message}")
    }
}

fun header(response: ApiResponse<*>, name: String): String = response.headers.getValue(name).first()
