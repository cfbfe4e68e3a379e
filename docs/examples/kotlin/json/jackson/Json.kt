/** A refusal out of its JSON, by Jackson. */

import org.openapitools.client.infrastructure.Serializer
import org.openapitools.client.models.Refusal

fun refusalOf(text: String): Refusal? =
    Serializer.jacksonObjectMapper.readValue(text, Refusal::class.java)

/** This library takes a member without a type as it is: there is nothing to prepare. */
fun prepareJson() = Unit
