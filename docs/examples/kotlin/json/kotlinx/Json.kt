/** A refusal out of its JSON, by kotlinx.serialization, which must be told what it makes of a member without a type. */

import kotlinx.serialization.KSerializer
import kotlinx.serialization.encoding.Decoder
import kotlinx.serialization.encoding.Encoder
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonPrimitive
import org.openapitools.client.infrastructure.Serializer
import org.openapitools.client.models.Refusal

fun refusalOf(text: String): Refusal? =
    Serializer.kotlinxSerializationJson.decodeFromString<Refusal>(text)

/** To be called before the first request: texts and numbers become texts, everything else stays a JsonElement. */
fun prepareJson() {
    Serializer.kotlinxSerializationAdaptersConfiguration = { contextual(Any::class, Untyped) }
}

private object Untyped : KSerializer<Any> {
    override val descriptor = JsonElement.serializer().descriptor
    override fun deserialize(decoder: Decoder): Any {
        val json = decoder.decodeSerializableValue(JsonElement.serializer())
        return if (json is JsonPrimitive) json.content else json
    }
    override fun serialize(encoder: Encoder, value: Any) =
        encoder.encodeSerializableValue(JsonElement.serializer(), value as JsonElement)
}
