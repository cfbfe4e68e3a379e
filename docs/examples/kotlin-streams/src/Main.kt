/** Prints quotes and the user's order events as they come. */

import java.io.IOException
import kotlin.system.exitProcess
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.boolean
import kotlinx.serialization.json.jsonArray
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive
import okhttp3.FormBody
import okhttp3.Headers.Companion.headersOf
import okhttp3.OkHttpClient
import okhttp3.Request

fun env(name: String): String = System.getenv(name) ?: error("$name is not set")

/** In an app its library for OpenID Connect does this, and keeps the token while it is valid. */
fun signIn(): String {
    val form = FormBody.Builder().add("grant_type", "password").add("username", "ada").build()
    val request = Request.Builder().url("${env("ISSUER_URL")}/token").header("accept", "text/plain").post(form)
    OkHttpClient().newCall(request.build()).execute().use {
        val text = it.body.string()
        if (!it.isSuccessful) throw IOException(text)
        return text
    }
}

/** What a stream of quotes has told: by symbol a record as getStockSnapshots answers it. Its decimals are texts. */
class Quotes {
    val bySymbol = mutableMapOf<String, JsonObject>()

    /** Returns the symbols of which the event tells something new. */
    fun take(event: String, told: JsonObject): Set<String> {
        val changed = mutableSetOf<String>()
        if (event == "snapshot") {
            // A connection begins with all that is known: what is not in it is gone.
            changed += bySymbol.keys
            bySymbol.clear()
        }
        for (quote in told["quotes"]?.jsonArray.orEmpty().map(JsonElement::jsonObject)) {
            val symbol = quote.getValue("symbol").jsonPrimitive.content
            val record = quote["record"] ?: quote.getValue("set")
            val before = if ("record" in quote) emptyMap() else bySymbol[symbol].orEmpty()
            bySymbol[symbol] = JsonObject(before + record.jsonObject)
            changed += symbol
        }
        for ((symbol, state) in told["states"]?.jsonObject.orEmpty()) {
            if (state.jsonPrimitive.content in setOf("unknown", "missing")) bySymbol -= symbol
            changed += symbol
        }
        return changed
    }
}

fun main() {
    val gateway = env("GATEWAY_URL")
    val key = env("API_KEY")
    val onRefused = { refusal: String ->
        System.err.println(refusal)
        exitProcess(1)
    }

    val quotes = Quotes()
    val symbols = "AAPL,MSFT,NVDA"
    Stream(
        "$gateway/market-data/stocks/snapshots/stream?symbols=$symbols&category=US_STOCK",
        { headersOf("x-api-key", key) },
        onRefused,
    ) { event, told ->
        for (symbol in quotes.take(event, told)) println("quote $symbol ${quotes.bySymbol[symbol] ?: "-"}")
    }.open()

    Stream(
        "$gateway/trading/events/stream",
        // The key says which app calls, the token who.
        { headersOf("x-api-key", key, "authorization", "Bearer ${signIn()}") },
        onRefused,
    ) { event, told ->
        // What changed more than a day ago is not told again: the app reads its orders, and goes on from here.
        if (event == "start" && !told.getValue("resumed").jsonPrimitive.boolean) println("orders from now on")
        // An event may come twice, each time with the same event_id.
        if (event == "change") {
            val detail = told.getValue("detail").jsonObject
            val id = detail.getValue("event_id").jsonPrimitive.content
            println("order $id ${told.getValue("detail-type").jsonPrimitive.content} $detail")
        }
    }.open()
}
