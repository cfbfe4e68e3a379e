/** A stream of the gateway over connections that come and go. */

import java.io.IOException
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit
import kotlin.math.min
import kotlin.random.Random
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive
import kotlinx.serialization.json.long
import okhttp3.Headers
import okhttp3.OkHttpClient
import okhttp3.Request
import okhttp3.Response
import okhttp3.sse.EventSource
import okhttp3.sse.EventSourceListener
import okhttp3.sse.EventSources

/** The gateway sends a beat each 5 s: a connection that is silent for longer than this is dead. */
private val http = OkHttpClient.Builder().readTimeout(12, TimeUnit.SECONDS).build()
private val sources = EventSources.createFactory(http)
private val timer = Executors.newSingleThreadScheduledExecutor()

private const val FIRST_PAUSE_MS = 1000L
private const val LONGEST_PAUSE_MS = 30_000L

/**
 * @param headers asked before each connection, because by then the last token may be too old
 * @param onRefused told of an answer that another connection would get, too; it ends the stream
 */
class Stream(
    private val url: String,
    private val headers: () -> Headers,
    private val onRefused: (String) -> Unit,
    private val onEvent: (event: String, told: JsonObject) -> Unit,
) : EventSourceListener() {
    private var lastId: String? = null
    private var failures = 0
    private var pauseMs = 0L

    fun open() {
        timer.execute(::connect)
    }

    private fun connect() {
        try {
            val request = Request.Builder().url(url).headers(headers())
            lastId?.let { request.header("last-event-id", it) }
            sources.newEventSource(request.build(), this)
        } catch (_: IOException) {
            connectLater()
        }
    }

    private fun connectLater() {
        // Clients that lost their connections together come back apart.
        val jitterMs = Random.nextLong(min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS shl min(failures, 5)))
        timer.schedule(::connect, pauseMs + jitterMs, TimeUnit.MILLISECONDS)
        failures += 1
        pauseMs = 0
    }

    override fun onEvent(eventSource: EventSource, id: String?, type: String?, data: String) {
        failures = 0
        lastId = id ?: lastId
        val told = Json.parseToJsonElement(data).jsonObject
        if (type == "end") pauseMs = told.getValue("retry_after_ms").jsonPrimitive.long
        onEvent(type ?: "message", told)
    }

    override fun onClosed(eventSource: EventSource) = connectLater()

    override fun onFailure(eventSource: EventSource, t: Throwable?, response: Response?) {
        if (response != null && response.code in 400..499 && response.code != 429)
            return onRefused(response.body.string())
        pauseMs = 1000 * (response?.header("retry-after")?.toLongOrNull() ?: 0)
        connectLater()
    }
}
